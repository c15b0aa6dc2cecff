"""What an experiment found, in sentences with its own numbers."""

from collections.abc import Iterable, Sequence
from math import floor, isnan, log10

import numpy as np
from scipy.special import stdtrit

from hierbandits.reporting.rounding import short_number, shown_error
from hierbandits.simulation.study import Study

SURE = 2.0  # standard errors that make a difference worth a word
MOST_PLACES = 6  # after the point, in a sentence


def certainty(runs: int) -> str:
    """How sure the numbers of so many runs are."""
    if runs == 1:
        return (
            "There is one run, and nothing tells how much of its numbers is luck: no error and no "
            "interval is given."
        )
    return (
        f"From {runs:,} runs. All policies meet the same worlds and the same luck, and ± is one "
        f"standard error; a difference of less than {sure(runs):.2g} standard errors may be luck."
    )


def sure(runs: int) -> float:
    """How many standard errors of so many runs make a difference that is hardly luck.

    Few runs do not tell their own error well: it is Student's t, and two in the end.
    """
    return max(student(runs), SURE) if runs > 1 else float("inf")


def student(runs: int) -> float:
    """Half the length of a 95 % interval from so many runs, in standard errors; NaN of one."""
    return float(stdtrit(runs - 1, 0.975)) if runs > 1 else float("nan")


def of_errors(runs: int, sentence: str) -> str:
    """What a caption says of bands or bars; with one run there are none."""
    return sentence if runs > 1 else "There is one run, so that there are no errors to show."


def number(mean: float, error: float) -> str:
    """A mean and its error, both to the error's second digit; the mean alone if it has no error."""
    if isnan(error):
        return short_number(mean)
    places = 1 - floor(log10(error)) if error > 0 else 0
    if places > MOST_PLACES:
        return f"{mean:.{MOST_PLACES}g} ± {error:.2g}"
    return f"{mean:,.{max(places, 0)}f} ± {error:,.{max(places, 0)}f}"


def interval(ratio: float, reach: float, digits: int = 2) -> str:
    """A ratio and the ends of its interval, or the ratio alone if the reach is not known."""
    if isnan(reach):
        return f"{ratio:.{digits}f}"
    return f"{ratio:.{digits}f} ({ratio - reach:.{digits}f} to {ratio + reach:.{digits}f})"


def ratio_interval(study: Study, name: str, other: str, digits: int = 2) -> str:
    """The regret of a policy over that of another, with its 95 % interval."""
    ratio, error = study.ratio(name, other)
    return interval(ratio, student(study.runs) * error, digits)


def compared(study: Study, name: str, other: str) -> str:
    """How much less or more regret a policy has than another."""
    return compared_ratio(name, other, *study.ratio(name, other), sure(study.runs))


def compared_ratio(name: str, other: str, ratio: float, error: float, reach: float = SURE) -> str:
    """The same, from the ratio of their regrets, its standard error and how many are enough."""
    percent, word = 100 * abs(ratio - 1), "less" if ratio < 1 else "more"
    if isnan(error):
        return f"{name} had {percent:.0f} % {word} regret than {other}"
    luck = shown_error(100 * error, 0 if error >= 0.01 else 1)
    if abs(ratio - 1) <= reach * error:
        return f"{name} has about the regret of {other} ({100 * (ratio - 1):+.1f} ± {luck} %)"
    return f"{name} has {percent:.0f} ± {luck} % {word} regret than {other}"


def totals(study: Study, names: Iterable[str]) -> str:
    """The final regret of some policies."""
    return ", ".join(f"{name} {number(*study.mean(name))}" for name in names)


def spread(ratios: Sequence[float]) -> str:
    """The least, the middle and the most of some ratios."""
    low, middle, high = np.quantile(ratios, [0, 0.5, 1])
    return f"from {low:.2f} to {high:.2f} times, {middle:.2f} in the middle"
