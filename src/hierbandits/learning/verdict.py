"""The findings in plain words."""

from collections.abc import Sequence
from math import exp, log

import numpy as np

from hierbandits.learning.calibration import LEVELS, Calibration
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.savings import Saving, Savings
from hierbandits.learning.task_similarity import Similarity

STEPS = ((150.0, "very strongly"), (20.0, "strongly"), (3.0, "somewhat"))  # least odds
SURE = 2.0  # standard errors that make a difference worth a word
REPEATED = 100.0  # a condition number from which features are too much alike
NAMED = 5  # tasks or arms that a sentence names


def strength(log_odds: float) -> str:
    """A word for the size of the evidence, after Kass and Raftery (1995)."""
    return next((word for odds, word in STEPS if log_odds >= log(odds)), "hardly")


def on_models(found: Comparison) -> list[str]:
    """Does sharing help, and does it help over pooling?"""
    alone, pooled = (found.log_odds("hierarchical", name) for name in ("independent", "pooled"))
    if found.best == "pooled":
        first = "Tasks look equal: one pooled model fits them best."
        second = (
            f"The log speaks {_spoken(-pooled)} for it over a hierarchy, and {_spoken(alone)} for "
            "a hierarchy over independent tasks. A hierarchy loses little here: it learns that "
            "tasks hardly differ."
        )
    elif found.best == "independent":
        first = "Tasks have little in common: independent tasks fit best."
        second = (
            f"The log speaks {_spoken(-alone)} for them over a hierarchy, and {_spoken(pooled)} "
            "for a hierarchy over one pooled model. What one task teaches says little of another."
        )
    else:
        first = "Tasks are alike but not equal: a hierarchy fits them best."
        if strength(pooled) == "hardly":
            first = "Tasks are alike, and the log hardly tells whether they are equal."
        elif strength(alone) == "hardly":
            first = "Tasks differ, and the log hardly tells whether they have anything in common."
        second = (
            f"The log speaks {_spoken(alone)} for sharing between tasks over independent tasks, "
            f"and {_spoken(pooled)} for a hierarchy over one pooled model."
        )
    return [first, second]


def on_similarity(found: Similarity) -> list[str]:
    """How alike tasks are, in rewards."""
    needed = np.sort(found.rewards_to_equal)[len(found.rewards_to_equal) // 2]
    of = "rewards of an arm" if found.is_armed else "rewards"
    said = [
        f"{100 * found.overall_share:.2g} % of the variance of rewards about what tasks have in "
        f"common lies between tasks. A task needs about {_number(needed)} {of} before its own data "
        "weigh as much as what other tasks say."
    ]
    if found.maybe_zero.all():
        said[0] = f"By the widths that fit best, {said[0]}"
        said.append("But the log tells none of these widths from zero: tasks may not differ.")
    elif found.maybe_zero.any():
        unsure = [
            name for name, zero in zip(found.coordinates, found.maybe_zero, strict=True) if zero
        ]
        said.append(f"The log does not tell the task width from zero for {_listed(unsure)}.")
    if found.condition > REPEATED:
        said.append(
            f"Features nearly repeat each other (condition number {found.condition:.2g}), which "
            "makes task widths come out too small. A feature far from zero repeats a constant "
            "one: subtract its mean first."
        )
    if not found.converged:
        said.append("The fit did not converge: take its widths with care.")
    return said


def on_outliers(found: Outliers) -> list[str]:
    """Which tasks the others do not explain."""
    names, size = found.names, len(found.tasks)
    if not names:
        return [f"No task stands out among the {size}."]
    verb = "stands" if len(names) == 1 else "stand"
    return [
        f"{len(names)} of {size} tasks {verb} out from what the others say of them: "
        f"{_listed(names)}."
    ]


def on_calibration(found: Calibration) -> list[str]:
    """Whether predictions of unseen rows hold."""
    said, off = [], found.off
    judged = "means of held-out rewards" if found.two_valued else "held-out rewards"
    coverage = found.coverage
    if found.two_valued:
        said.append(
            "Rewards have two values, so that no Gaussian predicts single ones well: the means of "
            "a task's rewards are judged in their place."
        )
        if found.cells is None:
            return [*said, "No task has held out enough rewards for that."]
        coverage = found.cells.coverage
    if not off:
        said.append(f"Predictions hold: intervals cover {judged} as often as they say.")
    else:
        parts = [
            f"the {100 * level:g} % intervals hold {100 * share:.3g} %"
            for level, share in zip(LEVELS, coverage, strict=True)
            if level in off
        ]
        said.append(
            f"Predictions are off: of {judged}, {_listed(parts)}. The rewards or the tasks are "
            "not as Gaussian as the model has them; widths and probabilities here lean on that."
        )
    gains = [_scored(name, *gain) for name, gain in found.gain.items()]
    return [*said, f"Per held-out row, the hierarchy's log scores are {' and '.join(gains)}."]


def on_savings(found: Savings, similarity: Similarity) -> list[str]:
    """What sharing would save, and whether pooling would save more."""
    said = [
        f"In {found.runs} worlds like this one ({found.num_tasks} new tasks, {found.num_rounds} "
        f"rounds), HierTS has {' and '.join(_saved(saving) for saving in found.savings)}."
    ]
    pooled = next(saving for saving in found.savings if saving.over == "PooledTS")
    if pooled.difference < -SURE * pooled.difference_error:
        said.append("Pooling wins there: tasks differ too little, or end too soon, to tell apart.")
    if similarity.maybe_zero.any():
        said.append(
            "Some task widths are guesses there, since the log does not tell them from zero: the "
            "more equal tasks are, the better pooling does."
        )
    return said


def _scored(name: str, gain: float, error: float) -> str:
    if abs(gain) <= SURE * error:
        return f"about as good as {name} ones ({gain:+.2g} ± {error:.2g})"
    return f"{'better' if gain > 0 else 'worse'} than {name} ones by {abs(gain):.3g} ± {error:.2g}"


def _saved(saving: Saving) -> str:
    if abs(saving.difference) <= SURE * saving.difference_error:
        return (
            f"about the regret of {saving.over} ({_percent(-saving.percent, '+')} ± "
            f"{_percent(saving.percent_error)} %)"
        )
    word = "less" if saving.difference > 0 else "more"
    return (
        f"{abs(saving.percent):.3g} ± {_percent(saving.percent_error)} % {word} regret than "
        f"{saving.over}"
    )


def _percent(value: float, sign: str = "") -> str:
    """Two digits, or more before the point."""
    return f"{value:{sign}.0f}" if abs(value) >= 99.5 else f"{value:{sign}.2g}"


def _spoken(log_odds: float) -> str:
    if log_odds < 0:
        return f"not at all ({_odds(-log_odds)} against it)"
    word = strength(log_odds)
    return f"{word}{' at all' if word == 'hardly' else ''} ({_odds(log_odds)})"


def _odds(log_odds: float) -> str:
    return f"odds {exp(log_odds):.3g} to 1" if log_odds < 10 else f"odds e^{log_odds:.0f} to 1"


def _number(value: float) -> str:
    return f"{value:.0f}" if 10 <= value < 1e6 else f"{value:.2g}"


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(str(name) for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
