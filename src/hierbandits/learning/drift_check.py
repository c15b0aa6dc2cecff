"""Do early and late rows differ?"""

import numpy as np
from scipy.special import ndtr
from scipy.stats import f as f_distribution

from hierbandits.algebra import times
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.check import LEVEL, Check
from hierbandits.learning.own_fits import OwnFits, pseudo_inverses
from hierbandits.learning.sentence import Claim, listed
from hierbandits.learning.width_evidence import feature_sizes
from hierbandits.types import Name, Vector

ASKS = "Do early and late rows differ?"
LEAST_ROWS = 10  # beyond what both fits take


def check_drift(
    early: TaskSums, late: TaskSums, coordinates: tuple[Name, ...], tails: float = 0.0
) -> Check:
    """Compare each task's early rows with its late ones.

    A task is fitted once to all its rows, and once to each half.  Two F tests ask how much better
    the halves fit: by one change that all tasks have in common, and by changes of their own.
    Noise of excess kurtosis `tails` makes mean squares vary by (2 + tails) / 2 as much.
    """
    both, sizes = early + late, feature_sizes(early + late)
    fits = [OwnFits.of(part) for part in (early, late, both)]
    square = float(sum(fit.square.sum() for fit in fits[:2]))
    halves = int(sum(fit.rank.sum() for fit in fits[:2]))
    own, free = halves - int(fits[2].rank.sum()), int(both.n.sum()) - halves
    if own == 0 or free < LEAST_ROWS or square <= 0:
        return Check(asks=ASKS, words="Too few tasks have rows of both times to compare.")
    gain = float(fits[2].square.sum()) - square
    change, shared, common = _common_change(early, late, fits[2], sizes)
    noise_var = square / free
    p_common = _p_value(shared / common, common, (square + gain - shared) / (free + own - common),
                        free + own - common)  # fmt: skip
    p_own, own_std = 1.0, 0.0
    if own > common:
        square_of_own = (gain - shared) / (own - common)
        p_own = _p_value(square_of_own, own - common, noise_var, free)
        error = np.sqrt((2 / (own - common) + 2 / free) * (1 + max(tails, 0.0) / 2))
        if tails > 0:
            p_own = max(p_own, float(ndtr((1 - square_of_own / noise_var) / error)))
        spread = max(gain - shared - (own - common) * noise_var, 0.0)
        own_std = float(np.sqrt(spread / max(_weight(early, late, sizes), 1e-300)))
    p_value = min(1.0, 2 * min(p_common, p_own))
    place = int(np.abs(change * sizes).argmax())
    effect = float(change[place] * sizes[place])
    noise = float(np.sqrt(noise_var))
    about: tuple[Name, ...] = ()
    if p_own < p_common:
        found = f"a task's later rewards differ from its earlier ones by about {own_std:.2g}"
        effect = own_std
    else:
        word = "higher" if effect > 0 else "lower"
        name = listed([coordinates[place]])
        found = f"later rewards are {word} by {abs(effect):.2g} for {name}, in all tasks together"
        about = (coordinates[place],)
    trouble = p_value < LEVEL
    words = (
        f"Rewards drift: {found} (noise {noise:.2g}; p = {p_value:.2g}). The model takes them for "
        "constant; a policy that learned while the log grew can look the same."
        if trouble
        else "No drift shows between earlier and later rows."
    )
    return Check(
        asks=ASKS, words=words, claim=Claim.DRIFT if trouble else None, effect=effect / noise,
        p_value=p_value, about=about if trouble else (),
    )  # fmt: skip


def _common_change(
    early: TaskSums, late: TaskSums, fit: OwnFits, sizes: Vector
) -> tuple[Vector, float, int]:
    """The change that all tasks share, (d,), what it explains, and its degrees of freedom."""
    both = early + late
    if early.is_armed:
        between = early.xx * late.xx * fit.inverse
        seen = both.xx > 0
        weighted = np.where(seen, late.xy - late.xx * fit.theta, 0.0).sum(0)
    else:
        between = late.xx - late.xx @ fit.inverse @ late.xx
        weighted = (late.xy - times(late.xx, fit.theta)).sum(0)
    inverse, rank = pseudo_inverses(between.sum(0)[None], sizes)
    change = times(inverse, weighted[None])[0]
    return change, float(change @ weighted), max(int(rank[0]), 1)


def _weight(early: TaskSums, late: TaskSums, sizes: Vector) -> float:
    """Sum over tasks of the information about their own changes, features at their sizes."""
    inverse, _ = pseudo_inverses((early + late).xx, sizes)
    if early.is_armed:
        return float((early.xx * late.xx * inverse).sum())
    between = late.xx - late.xx @ inverse @ late.xx
    return float((np.diagonal(between, axis1=1, axis2=2) / sizes**2).sum())


def _p_value(mean_square: float, freedom: int, noise_var: float, noise_freedom: int) -> float:
    return float(f_distribution.sf(mean_square / noise_var, freedom, noise_freedom))
