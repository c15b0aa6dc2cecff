"""Is the noise the same everywhere, and Gaussian?"""

from typing import Literal

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from hierbandits.learning.check import LEVEL, Check
from hierbandits.learning.sentence import Claim, listed
from hierbandits.types import Name, Vector

TAILS_ASKS = "Do rewards have heavy tails?"
LEAST_FREEDOM = 20
MOST_GROUPS, DRAWS = 2000, 999
NOT_MODELLED = "The model has one noise for all, so it trusts the noisier rewards too much."
MODELLED = "The widths of this report take that into account; the prior and the start do not."


def noise_asks(what: str) -> str:
    """The question of a check of groups, "arm" or "task"."""
    return f"Does the noise differ by {what}?"


def check_noise(
    rng: Generator,
    what: Literal["arm", "task"],
    names: tuple[Name, ...],
    square: Vector,
    freedom: Vector,
    tails: float,
    is_modelled: bool = False,
) -> Check:
    """Compare the variances of groups, s_g^2 = square / freedom, with one for all.

    How uneven they are is compared with draws of Gaussian noise.  `tails` is the excess kurtosis
    of the noise: variances of groups differ by (2 + tails) / 2 as much then.  `is_modelled` says
    that the fit has a noise for each group.
    """
    asks, seen = noise_asks(what), np.flatnonzero(freedom >= 1)
    if seen.size > MOST_GROUPS:
        seen = rng.choice(seen, MOST_GROUPS, replace=False)
    square, freedom = square[seen], freedom[seen]
    if seen.size < 2 or freedom.sum() < LEAST_FREEDOM or square.sum() <= 0:
        return Check(asks=asks, words=f"Too few rewards repeat within a task to compare {what}s.")
    measured = _unevenness(square, freedom) / (1 + max(tails, 0.0) / 2)
    drawn = rng.chisquare(freedom, (DRAWS, seen.size))
    p_value = float((1 + (_unevenness(drawn, freedom) >= measured).sum()) / (1 + DRAWS))
    all_std = float(np.sqrt(square.sum() / freedom.sum()))
    each = np.sqrt(square / freedom)
    z = (each**2 / all_std**2 - 1) * np.sqrt(freedom / 2)
    odd = int(np.abs(z).argmax())
    name = names[int(seen[odd])]
    trouble = p_value < LEVEL
    words = (
        f"Noise differs by {what}: that of {listed([name])} is {each[odd]:.2g}, that of all "
        f"together {all_std:.2g} (p {'≤' if p_value <= 1 / (1 + DRAWS) else '='} {p_value:.2g}). "
        + (MODELLED if is_modelled else NOT_MODELLED)
        if trouble
        else f"The noise does not differ by {what} as far as the log tells."
    )
    claims = {"arm": Claim.NOISE_BY_ARM, "task": Claim.NOISE_BY_TASK}
    return Check(
        asks=asks, words=words, claim=claims[what] if trouble else None,
        effect=float(each[odd] / all_std), p_value=p_value, about=(name,) if trouble else (),
    )  # fmt: skip


def _unevenness(square: Vector, freedom: Vector) -> Vector:
    """How far variances of groups are from each other, (...,) for squares (..., groups).

    The cube root of a variance is nearly Gaussian (Wilson and Hilferty, 1931).
    """
    root = np.cbrt(square / freedom)
    middle = (freedom * root).sum(-1, keepdims=True) / freedom.sum()
    total: Vector = (freedom * (root / middle - 1) ** 2).sum(-1)
    return total


def excess_kurtosis(
    rows: Vector, square: Vector, fourth: Vector, freedom: Vector
) -> tuple[float, float]:
    """Of residuals within groups, and the freedom of the groups that have enough of it.

    `square` and `fourth` are sums of powers of residuals, each in units of its own standard error
    times the noise, over so many `rows` of each group.
    """
    each = _kurtosis_by_group(rows, square, fourth, freedom)
    seen = np.isfinite(each)
    if not seen.any():
        return 0.0, 0.0
    n = freedom[seen]
    return float((n * each[seen]).sum() / n.sum()), float(n.sum())


def _kurtosis_by_group(rows: Vector, square: Vector, fourth: Vector, freedom: Vector) -> Vector:
    """The excess kurtosis of each group's residuals; NaN where too few rewards repeat."""
    seen = (freedom >= LEAST_FREEDOM) & (square > 0)
    each = np.full(freedom.size, np.nan)
    n = freedom[seen]
    each[seen] = rows[seen] * fourth[seen] / square[seen] ** 2 - 3 * (n - 1) / (n + 1)
    return each


def check_tails(excess: float, freedom: float) -> Check:
    """Compare the kurtosis of residuals with Gaussian ones', by Anscombe and Glynn (1983)."""
    if freedom < LEAST_FREEDOM:
        return Check(
            asks=TAILS_ASKS, words="Too few rewards repeat within a task to look at tails."
        )
    p_value = _p_value_of_kurtosis(excess, freedom)
    trouble = p_value < LEVEL
    words = (
        f"Rewards have heavy tails: their excess kurtosis within tasks is {excess:.2g}, where "
        f"Gaussian ones have 0 (p = {p_value:.2g}). Few rewards sway means more than the model "
        "thinks; noise that differs between tasks of few rows looks the same."
        if trouble
        else "Rewards have no heavier tails than Gaussian ones as far as the log tells."
    )
    return Check(
        asks=TAILS_ASKS, words=words, claim=Claim.HEAVY_TAILS if trouble else None,
        effect=excess, p_value=p_value,
    )  # fmt: skip


def _p_value_of_kurtosis(excess: float, n: float) -> float:
    """How probable so large a sample kurtosis is of n Gaussian numbers."""
    var = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = excess / np.sqrt(var)
    skew = 6 * (n**2 - 5 * n + 2) / ((n + 7) * (n + 9))
    skew *= np.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skew * (2 / skew + np.sqrt(1 + 4 / skew**2))
    scaled = (1 - 2 / a) / max(1 + x * np.sqrt(2 / (a - 4)), 1e-12)
    z = (1 - 2 / (9 * a) - np.cbrt(scaled)) / np.sqrt(2 / (9 * a))
    return float(ndtr(-z))
