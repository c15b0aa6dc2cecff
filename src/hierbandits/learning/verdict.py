"""The findings in plain sentences."""

from collections.abc import Sequence
from math import exp, log

import numpy as np

from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.calibration import CONFIDENCES, Calibration
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.shown_name import shown_name

STEPS = ((150.0, "very strongly"), (20.0, "strongly"), (3.0, "somewhat"))  # least odds
SURE = 2.0  # standard errors that make a difference worth a word
REPEATED = 100.0  # a condition number from which features are too much alike
NAMED = 5  # tasks or arms that a sentence names


def strength(log_odds: float) -> str:
    """A word for the size of the evidence, after Kass and Raftery (1995)."""
    return next((word for odds, word in STEPS if log_odds >= log(odds)), "hardly")


def on_models(comparison: Comparison) -> list[str]:
    """Does sharing help, and does it help over pooling?"""
    alone = comparison.log_odds("hierarchical", "independent")
    pooled = comparison.log_odds("hierarchical", "pooled")
    if comparison.best == "pooled":
        first = "Tasks look equal: one pooled model fits them best."
        second = (
            f"The log speaks {_how_strongly(-pooled)} for it over a hierarchy, and "
            f"{_on_hierarchy(alone, 'independent tasks')}. A hierarchy loses little here: it "
            "learns that tasks hardly differ."
        )
    elif comparison.best == "independent":
        first = "Tasks have little in common: independent tasks fit best."
        second = (
            f"The log speaks {_how_strongly(-alone)} for them over a hierarchy, and "
            f"{_on_hierarchy(pooled, 'one pooled model')}. What one task teaches says little about "
            "another."
        )
    else:
        first = "Tasks are alike but not equal: a hierarchy fits them best."
        if strength(pooled) == "hardly":
            first = "Tasks are alike, and the log hardly tells whether they are equal."
        elif strength(alone) == "hardly":
            first = "Tasks differ, and the log hardly tells whether they have anything in common."
        second = (
            f"The log speaks {_how_strongly(alone)} for sharing between tasks over independent "
            f"tasks, and {_on_hierarchy(pooled, 'one pooled model')}."
        )
    return [first, second]


def on_similarity(similarity: Similarity) -> list[str]:
    """How alike tasks are, in rewards."""
    needed = np.sort(similarity.rewards_to_equal)[len(similarity.rewards_to_equal) // 2]
    of = "rewards of an arm" if similarity.is_armed else "rewards"
    sentences = [
        f"{100 * similarity.overall_share:.2g} % of the variance of rewards about what tasks have "
        f"in common lies between tasks. A task needs about {_number(needed)} {of} before its own "
        "data weigh as much as what other tasks say."
    ]
    if similarity.maybe_zero.all():
        sentences[0] = f"By the widths that fit best, {sentences[0]}"
        sentences.append("But the log tells none of these widths from zero: tasks may not differ.")
    elif similarity.maybe_zero.any():
        unsure = [
            name
            for name, zero in zip(similarity.coordinates, similarity.maybe_zero, strict=True)
            if zero
        ]
        sentences.append(f"The log does not tell the task width from zero for {_listed(unsure)}.")
    if similarity.condition > REPEATED:
        sentences.append(
            f"Features nearly repeat each other (condition number {similarity.condition:.2g}), "
            "which makes task widths come out too small. A feature far from zero repeats a "
            "constant one: subtract its mean first."
        )
    if not similarity.converged:
        sentences.append("The fit did not converge: take its widths with care.")
    return sentences


def on_correlations(
    correlations: Correlations | None, choice: StructureChoice | None, similarity: Similarity
) -> list[str]:
    """Whether a task that is good with one arm is good with others; nothing if nobody asked."""
    what = "arm" if similarity.is_armed else "feature"
    odds = None if choice is None else choice.log_odds_of_correlations
    if correlations is None:
        if odds is None:
            return []
        return [
            f"The {what}s of a task are not correlated as far as the log tells: it speaks "
            f"{_how_strongly(-odds)} against correlations."
        ]
    pairs = correlations.pairs
    first = f"The {what}s of a task {'move together' if pairs.min() > 0 else 'are correlated'}: "
    if pairs.size == 1 or np.ptp(pairs) < 0.005:
        first += f"their correlation is {pairs[0]:.2f}."
    else:
        first += (
            f"correlations are from {pairs.min():.2f} to {pairs.max():.2f}, median "
            f"{np.median(pairs):.2f}."
        )
    if correlations.common_std is not None:
        first += (
            " All arms of a task have a part in common, of width "
            f"{_number(correlations.common_std)}: what one arm teaches about a task tells about "
            "its other arms."
        )
    if odds is None:
        return [first]
    return [first, f"The log speaks {_how_strongly(odds)} for correlations over none."]


def on_outliers(outliers: Outliers) -> list[str]:
    """Which tasks the others do not explain."""
    names, size = outliers.flagged_tasks, len(outliers.tasks)
    if not names:
        return [f"No task stands out among the {size}."]
    verb = "stands" if len(names) == 1 else "stand"
    return [
        f"{len(names)} of {size} tasks {verb} out from what the others say of them: "
        f"{_listed(names)}."
    ]


def on_calibration(calibration: Calibration) -> list[str]:
    """Whether predictions of unseen rows hold."""
    sentences, wrong = [], calibration.wrong_confidences
    judged = "means of held-out rewards" if calibration.two_valued else "held-out rewards"
    coverage = calibration.coverage
    if calibration.two_valued:
        sentences.append(
            "Rewards have two values, so that no Gaussian predicts single ones well: the means of "
            "a task's rewards are judged in their place."
        )
        if calibration.cells is None:
            return [*sentences, "No task has enough held-out rewards for that."]
        coverage = calibration.cells.coverage
    if not wrong:
        sentences.append(f"Predictions hold: intervals cover {judged} as often as they say.")
    else:
        parts = [
            f"the {100 * confidence:g} % intervals cover {100 * share:.3g} %"
            for confidence, share in zip(CONFIDENCES, coverage, strict=True)
            if confidence in wrong
        ]
        sentences.append(
            f"Predictions are off: of {judged}, {_listed(parts)}. The rewards or the tasks are "
            "not as Gaussian as the model assumes; widths and probabilities here depend on that."
        )
    scores = [_scored(name, *better) for name, better in calibration.advantage.items()]
    return [*sentences, f"Per held-out row, the hierarchy's log scores are {' and '.join(scores)}."]


def _scored(name: str, advantage: float, error: float) -> str:
    if abs(advantage) <= SURE * error:
        return f"about as good as {name} ones ({advantage:+.2g} ± {error:.2g})"
    word = "better" if advantage > 0 else "worse"
    return f"{word} than {name} ones by {abs(advantage):.3g} ± {error:.2g}"


def _on_hierarchy(log_odds: float, other: str) -> str:
    """What the log says of a hierarchy beside another model, after "The log speaks ... and"."""
    if log_odds < 0:
        return f"is against a hierarchy in place of {other} ({_odds(-log_odds)})"
    return f"{_how_strongly(log_odds)} for a hierarchy over {other}"


def _how_strongly(log_odds: float) -> str:
    word = strength(log_odds)
    return f"{word}{' at all' if word == 'hardly' else ''} ({_odds(log_odds)})"


def _odds(log_odds: float) -> str:
    return f"odds {exp(log_odds):.3g} to 1" if log_odds < 10 else f"odds e^{log_odds:.0f} to 1"


def _number(value: float) -> str:
    return f"{value:.0f}" if 10 <= value < 1e6 else f"{value:.2g}"


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(shown_name(name) for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
