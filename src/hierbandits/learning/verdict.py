"""The findings in plain sentences, each as sure as its odds."""

from collections.abc import Sequence
from math import log

import numpy as np

from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.calibration import CONFIDENCES, Calibration, Coverage
from hierbandits.learning.check import Check
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.noise_check import noise_asks
from hierbandits.learning.outliers import FALSE_ALARMS, Outliers
from hierbandits.learning.sentence import (
    Claim,
    Sentence,
    certainty,
    in_odds,
    listed,
    number,
)
from hierbandits.learning.similarity_verdict import what_is_not_told
from hierbandits.learning.task_similarity import LEAST_PAIRS, Similarity
from hierbandits.reporting.rounding import short_percents

SURE = 2.0  # standard errors that make a difference worth a word
MUCH = 0.1  # log score of a row: rows that leave so much open show no two models as equally good
LEAST_ODDS = 3.0  # a model that is less probable than the best by this is ruled out
APART = 20.0  # odds against correlations from which there are none: few tasks show none as well

ON_TASKS = {
    ("pooled",): (Claim.EQUAL, "tasks are equal, or nearly: one pooled model fits best"),
    ("hierarchical",): (Claim.ALIKE, "tasks are alike but not equal: a hierarchy fits best"),
    ("independent",): (
        Claim.STRANGERS,
        "tasks have little in common: independent tasks fit best, and what one task teaches says "
        "little about another",
    ),
    ("pooled", "hierarchical"): (
        Claim.ALIKE_OR_EQUAL,
        "tasks have something in common; whether they are equal, the log hardly tells",
    ),
    ("hierarchical", "independent"): (
        Claim.ALIKE_OR_STRANGERS,
        "tasks differ; whether they have anything in common, the log hardly tells",
    ),
}
"""What is said of tasks if these models remain."""


def on_models(
    comparison: Comparison, similarity: Similarity, checks: Sequence[Check] = ()
) -> list[Sentence]:
    """Are tasks equal, alike or strangers?  Odds say so where heavy tails may mislead them."""
    if not similarity.is_noise_told or not similarity.pairs_seen.any():
        text = "The log cannot tell whether tasks are equal, alike or have nothing in common."
        return [Sentence(Claim.UNDECIDED, text), *what_is_not_told(similarity)[:1]]
    logs = comparison.log_evidence
    most = max(logs.values())
    remain = tuple(name for name, value in logs.items() if most - value < log(LEAST_ODDS))
    first = Sentence(
        Claim.UNDECIDED,
        "The log hardly tells whether tasks are equal, alike or have nothing in common.",
    )
    if remain in ON_TASKS:
        claim, words = ON_TASKS[remain]
        odds = most - max(value for name, value in logs.items() if name not in remain)
        first = Sentence(claim, f"{certainty(odds)} {words}.", odds)
    others = {"independent": "independent tasks", "pooled": "one pooled model"}
    parts = [_odds_of_hierarchy(logs["hierarchical"] - logs[o], w) for o, w in others.items()]
    sentences = [first, Sentence(first.claim, f"Odds are {' and '.join(parts)}.")]
    if any(check.claim is Claim.HEAVY_TAILS for check in checks):
        text = (
            "These odds take noise for Gaussian, and rewards here have heavy tails: a few rewards "
            "that are far off can make tasks look equal that are not, or unlike that are."
        )
        sentences.append(Sentence(first.claim, text))
    return sentences


def on_agreement(models: Sentence, similarity: Similarity) -> list[Sentence]:
    """How the comparison of models and the widths, which may seem to disagree, go together."""
    told, zero = similarity.told, similarity.maybe_zero
    what = "arms" if similarity.is_armed else "features"
    maybe_equal = models.claim in (Claim.EQUAL, Claim.ALIKE_OR_EQUAL, Claim.UNDECIDED)
    if maybe_equal and (some := similarity.named(told & ~zero)):
        if not zero[told].any():
            text = (
                "Both may be true: the intervals of the widths leave zero out, and the odds do "
                "not speak for it. Tasks differ little, if at all."
            )
            return [Sentence(Claim.DIFFER_LITTLE, text)]
        text = (
            f"Both may be true: the comparison of models takes all {what} together; by itself, "
            f"the task width of {listed(some)} is told from zero."
        )
        return [Sentence(Claim.DIFFER_IN_SOME, text, about=some)]
    differ = models.claim in (Claim.ALIKE, Claim.STRANGERS, Claim.ALIKE_OR_STRANGERS)
    if differ and told.any() and zero[told].all():
        text = (
            f"Both may be true: the comparison of models takes all {what} together; no task width "
            "is told from zero by itself."
        )
        return [Sentence(Claim.DIFFER_ALL_IN_ALL, text)]
    return []


def on_noises(
    choice: StructureChoice | None, similarity: Similarity, checks: Sequence[Check] = ()
) -> list[Sentence]:
    """Whether the fit has a noise for each arm; nothing if it has one for all.

    The odds are those of Gaussian noise.  Where tails are heavy, a check that allows for them may
    see no difference between arms; then the sentence says so.
    """
    noises, names = similarity.noise_of_arms, similarity.coordinates
    if noises is None:
        return []
    odds = None if choice is None else choice.log_odds_of_noises
    least, most = int(np.nanargmin(noises)), int(np.nanargmax(noises))
    for_it = "" if odds is None else f" (odds are {in_odds(odds)} for that)"
    text = (
        f"The fit has a noise for each arm{for_it}: from {number(float(noises[least]))} "
        f"({listed([names[least]])}) to {number(float(noises[most]))} ({listed([names[most]])}). "
        f"The prior and the start have one for all, {number(similarity.noise_std)}: "
    )
    check = next((each for each in checks if each.asks == noise_asks("arm")), None)
    if check is None or check.p_value is None or check.claim is not None:
        text += "they trust rewards of noisier arms too much, and those of the others too little."
    else:
        odds = None
        text += (
            "that may be right. Such odds take noise for Gaussian; a check that allows for heavy "
            f"tails does not see that it differs by arm (p = {check.p_value:.2g})."
        )
    return [Sentence(Claim.NOISE_OF_ARMS, text, odds, (names[least], names[most]))]


def on_correlations(
    correlations: Correlations | None, choice: StructureChoice | None, similarity: Similarity
) -> list[Sentence]:
    """Whether a task that is good with one arm is good with others; nothing if nobody asked."""
    what = "arm" if similarity.is_armed else "feature"
    odds = None if choice is None else choice.log_odds_of_correlations
    if odds is None and correlations is None:
        return []
    if similarity.tasks_of_two < LEAST_PAIRS:
        text = (
            f"{'No' if similarity.tasks_of_two == 0 else 'Only one'} task has data of two {what}s: "
            f"whether the {what}s of a task are correlated, the log cannot tell."
        )
        return [Sentence(Claim.CORRELATION_UNDECIDED, text)]
    if odds is not None and -log(APART) < odds < log(LEAST_ODDS):
        side = "for" if odds >= 0 else "against"
        text = (
            f"The log hardly tells whether the {what}s of a task are correlated: odds are "
            f"{in_odds(abs(odds))} {side} it."
        )
        if odds < -log(LEAST_ODDS):
            text = (
                f"The {what}s of a task show no correlation, but odds are only {in_odds(-odds)} "
                "against it: few tasks give such odds even where there is some."
            )
        sentences = [Sentence(Claim.CORRELATION_UNDECIDED, text, odds)]
    elif odds is not None and odds < 0:
        text = (
            f"{certainty(-odds)} the {what}s of a task are not correlated: odds are "
            f"{in_odds(-odds)}."
        )
        sentences = [Sentence(Claim.NOT_CORRELATED, text, -odds)]
    elif odds is not None:
        text = f"{certainty(odds)} the {what}s of a task are correlated: odds are {in_odds(odds)}."
        sentences = [Sentence(Claim.CORRELATED, text, odds)]
    else:
        text = (
            f"The structure that you chose has correlations; whether the {what}s of a task are "
            "correlated, the log was not asked."
        )
        sentences = [Sentence(Claim.CORRELATION_UNDECIDED, text)]
    if correlations is not None:
        claim = sentences[0].claim
        sentences.append(Sentence(claim, _on_pairs(correlations), about=similarity.coordinates))
    return sentences


def on_not_sought(choice: StructureChoice | None, similarity: Similarity) -> list[Sentence]:
    """Which correlations nobody looked for; nothing if any were, or if nobody asked."""
    if choice is None or choice.most_factors == np.inf:
        return []
    what, size = "arm" if similarity.is_armed else "feature", len(similarity.coordinates)
    if size < 2:
        return []
    long = f"with {size:,} {what}s that takes too long"
    if choice.most_factors:
        one = choice.most_factors == 1
        factors = "one factor" if one else f"{choice.most_factors} factors"
        text = f"Correlations of more than {factors} were not looked for: {long}."
    elif choice.has_common:
        text = (
            f"Correlations of the {what}s of a task other than by a part that all have in common "
            f"were not looked for: {long}. If there are any, the prior and the start are without "
            "them, and promises are too high or too low."
        )
    else:
        text = (
            f"Correlations of the {what}s of a task were not looked for: {long}. If there are any, "
            "the prior is without them."
        )
    return [Sentence(Claim.CORRELATION_NOT_SOUGHT, text)]


def _on_pairs(correlations: Correlations) -> str:
    """The sizes of correlations."""
    pairs = correlations.pairs
    if pairs.size == 1 or np.ptp(pairs) < 0.005:
        text = f"The prior's correlation is {pairs[0]:.2f}."
    else:
        text = (
            f"The prior's correlations are from {pairs.min():.2f} to {pairs.max():.2f}, median "
            f"{np.median(pairs):.2f}."
        )
    if correlations.common_std is not None:
        text += (
            " In the prior, all arms of a task have a part in common, of width "
            f"{number(correlations.common_std)}: by that, what one arm teaches about a task tells "
            "about its other arms."
        )
    return text


def on_outliers(outliers: Outliers) -> list[Sentence]:
    """Which tasks the others do not explain."""
    names, size = tuple(outliers.flagged_tasks), len(outliers.tasks)
    if not names:
        text = f"As far as the log tells, no task stands out among the {size:,}."
        return [Sentence(Claim.NO_OUTLIERS, text)]
    verb = "stands" if len(names) == 1 else "stand"
    text = (
        f"{len(names):,} of {size:,} tasks {verb} out from what the others say of them: "
        f"{listed(names)}. {100 * FALSE_ALARMS:g} % of such tasks, at most, are meant to do so by "
        "chance."
    )
    return [Sentence(Claim.OUTLIERS, text, about=names)]


def on_calibration(calibration: Calibration) -> list[Sentence]:
    """Whether predictions of unseen rows hold."""
    sentences, rows = [], calibration.of_rows
    if calibration.two_valued:
        text = (
            "Rewards have two values, so that no Gaussian predicts single ones well (50 % "
            f"intervals cover {short_percents(rows.coverage[0])} % of them): the means of a task's "
            "rewards are judged in their place."
        )
        sentences.append(Sentence(Claim.TWO_VALUED, text))
    judged = calibration.judged
    wrong = {what: coverage for what, coverage in judged.items() if coverage.wrong}
    if wrong:
        parts = [
            f"the {100 * confidence:g} % intervals cover {100 * share:.3g} % of {what}"
            for what, coverage in wrong.items()
            for confidence, share in zip(CONFIDENCES, coverage.coverage, strict=True)
            if confidence in coverage.wrong
        ]
        text = (
            f"Predictions are off: {listed(parts)}. The rewards or the tasks are not distributed "
            "as the model assumes; widths and probabilities here depend on that."
        )
        sentences.append(Sentence(Claim.OFF, text))
    elif judged and (first := next(iter(judged))) and judged[first].holds:
        text = f"Predictions hold: intervals cover {first} about as often as they say."
        sentences.append(Sentence(Claim.HOLD, text))
    else:
        sentences.append(Sentence(Claim.HOLD_NOT_TOLD, _too_few(judged)))
    return sentences


def _too_few(judged: dict[str, Coverage]) -> str:
    """Why nobody can say whether predictions hold."""
    if not judged:
        return "No task has enough held-out rewards to tell whether predictions hold."
    what, first = next(iter(judged.items()))
    return (
        f"Nothing speaks against the predictions, but {first.size} {what} are too few to tell "
        f"whether they hold: the 50 % intervals cover {100 * first.coverage[0]:.0f} ± "
        f"{100 * first.error[0]:.0f} %."
    )


def on_scores(calibration: Calibration) -> list[Sentence]:
    """How well the three models predict unseen rows."""
    scores = [_scored(name, *better) for name, better in calibration.advantage.items()]
    text = f"Per held-out row, the hierarchy's log scores are {' and '.join(scores)}."
    return [Sentence(Claim.SCORES, text)]


def _scored(name: str, advantage: float, error: float) -> str:
    if abs(advantage) <= SURE * error:
        near = "about" if abs(advantage) + SURE * error <= MUCH else "perhaps"
        return f"{near} as good as {name} ones ({advantage:+.2g} ± {error:.2g})"
    word = "better" if advantage > 0 else "worse"
    return f"{word} than {name} ones by {abs(advantage):.3g} ± {error:.2g}"


def _odds_of_hierarchy(log_odds: float, other: str) -> str:
    """What the log says of a hierarchy beside another model."""
    pair = f"for a hierarchy over {other}" if log_odds >= 0 else f"for {other} over a hierarchy"
    return f"{in_odds(abs(log_odds))} {pair}"
