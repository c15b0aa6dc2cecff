"""Checks of the sums of a past that a belief is to learn."""

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.weighed_sums import WeighedSums
from hierbandits.checks import LARGEST
from hierbandits.models.reward_family import RewardFamily


def check_rewards(sums: TaskSums, family: RewardFamily) -> None:
    """Raise an error if rewards of a family cannot have these sums."""
    told = sums.xx > 0
    if sums.xy[~told].any():
        raise ValueError("sums.xy must be 0 where there are no rewards")
    try:
        family.check_totals("sums.xy", sums.xy[told], sums.xx[told])
    except ValueError as error:
        raise ValueError(f"sums must be of {family.NAME} rewards: {error}") from error


def check_sums(sums: TaskSums, num_tasks: int, dim: int, *, armed: bool, largest: float) -> None:
    """Raise an error unless these can be the sums of events of so many tasks.

    `largest` is the size above which features are refused.
    """
    if sums.is_armed != armed or sums.xy.shape != (num_tasks, dim):
        form = "arms" if armed else "features"
        raise ValueError(f"sums must hold {num_tasks} tasks with {dim} {form}, got {sums.xx.shape}")
    sums.check_finite()
    if ((sums.n < 0) | (sums.n != np.round(sums.n))).any():
        raise ValueError(f"sums.n must be numbers of events, got {sums.n!r:.80}")
    squares = sums.xx if armed else np.diagonal(sums.xx, axis1=1, axis2=2)
    counted = armed and not isinstance(sums, WeighedSums)
    if counted and (abs(squares.sum(1) - sums.n) > 1e-6 * sums.n).any():
        raise ValueError("sums.xx must be the counts of n events, which add up to n")
    for name, values, size in (
        ("xx", squares, largest),
        ("yy", sums.yy[:, None], LARGEST),
    ):
        most = 1.001 * size**2 * sums.n[:, None]  # more than rounding
        if ((values < 0) | (values > most)).any():
            raise ValueError(
                f"sums.{name} must be sums of n squares, each at most {size:g} squared"
            )
    root = np.sqrt(squares)
    products = [("xy", sums.xy, root * np.sqrt(sums.yy)[:, None])]
    if not armed:
        products.append(("xx", sums.xx, root[:, :, None] * root[:, None, :]))
    for name, values, most in products:
        if (abs(values) > 1.001 * most).any():
            raise ValueError(f"sums.{name} must be sums of products of the events' numbers")
