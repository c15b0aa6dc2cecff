"""The 95 % intervals of widths and noise, and which widths may be zero."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from hierbandits.fitting.fit import Widths
from hierbandits.fitting.interval_level import (
    LARGEST_LOSS,
    allowed_loss,
    hyper_freedom,
    task_freedom,
)
from hierbandits.fitting.objective import Objective
from hierbandits.fitting.profile import Profile, Which
from hierbandits.fitting.structure import Structure
from hierbandits.fitting.units import Units
from hierbandits.types import Mask, Matrix, Vector

_CLEAR = 0.05
"""An error of a log width below which the log is normal, and the refits change nothing."""


def with_intervals(
    widths: Mapping[str, Widths],
    objective: Objective,
    units: Units,
    free: Vector,
    covariance: Matrix,
) -> dict[str, Widths]:
    """The widths of a fit with their intervals.

    An interval holds a width with which the log evidence, the rest refitted, is at most 1.92 below
    its top; with fewer than ten tasks somewhat less, see `miss_rates`.

    The rest is refitted in two ways: with every other width free, and with those at zero that may
    be zero.  Where many widths are nearly zero the first makes them too wide, as none can be
    negative, and the noise too small; the second errs to the other side.  The interval holds what
    either allows, and a width differs from zero if both say so.  Where all widths are known to a
    few percent, their logs are normal.
    """
    if all((each.log_error < _CLEAR).all() for each in widths.values() if each.is_learned):
        return {name: _normal_in_the_log(each) for name, each in widths.items()}
    profile = Profile.of(objective, free, covariance)
    learned: list[Which] = ["task_scale"]
    if objective.learns_hyper:
        learned.append("hyper_scale")
    zero = _near_zero(profile, learned)
    out = dict(widths)
    for each in zero:
        name = "task_widths" if each == "task_scale" else "hyper_widths"
        freedom = (task_freedom if each == "task_scale" else hyper_freedom)(objective)
        low, high, maybe_zero = _intervals(profile, zero, each, freedom)
        low, high = low * units.parameter, high * units.parameter
        out[name] = replace(out[name], low=low, high=high, maybe_zero=maybe_zero)
    if objective.learns_noise:
        views = _views(profile, zero)
        ends = [
            _hull([view.ends(view.noise_var(arm), LARGEST_LOSS, has_low=True) for view in views])
            if objective.events_of_noise[arm] > 0
            else (0.0, np.inf)  # nothing limits it
            for arm in range(objective.num_noises)
        ]
        low, high = units.reward * np.array(ends).T
        out["noise_width"] = replace(out["noise_width"], low=low, high=high)
    return out


def _normal_in_the_log(widths: Widths) -> Widths:
    reach = np.exp(np.sqrt(2 * LARGEST_LOSS) * widths.log_error)
    return replace(widths, low=widths.std / reach, high=widths.std * reach)


def _tests(structure: Structure) -> list[Mask]:
    """The widths of each test: one by one, or all of them where one number is all widths."""
    if structure.kind == "scalar":
        return [np.ones(structure.dim, bool)]
    return list(np.eye(structure.dim, dtype=bool))


def _near_zero(profile: Profile, learned: Sequence[Which]) -> dict[Which, Mask]:
    """Which widths may be zero, by themselves or beside others that may be."""
    structure = profile.objective.structure
    near: dict[Which, Mask] = {which: np.zeros(structure.dim, bool) for which in learned}
    view, grows = profile, True
    while grows:
        grows = False
        for which, mask in near.items():
            for one in _tests(structure):
                if not mask[one].any() and view.may_be_zero(which, one):
                    mask |= one
                    grows = True
        view = _views(profile, near)[-1]
    return near


def _views(profile: Profile, zero: Mapping[Which, Mask]) -> list[Profile]:
    """The profile, and the one where these widths are zero unless the log speaks against that."""
    view, numbers = profile, 0
    for which, mask in zero.items():
        if mask.any():
            view = view.without(which, mask)
            numbers += int(mask.sum()) * profile.objective.structure.numbers_of_a_width
    if numbers == 0 or profile.highest - view.highest > chdtri(numbers, 0.05) / 2:
        return [profile]
    return [profile, view]


def _intervals(
    profile: Profile, zero: Mapping[Which, Mask], which: Which, freedom: Vector
) -> tuple[Vector, Vector, Mask]:
    """The ends of the widths' intervals, in the data's units, and which widths may be zero."""
    maybe_zero = zero[which].copy()
    low, high = np.zeros(maybe_zero.size), np.full(maybe_zero.size, np.inf)
    for one in _tests(profile.objective.structure):
        views = _views(profile, {**zero, which: zero[which] & ~one})
        maybe_zero |= one & any(view.may_be_zero(which, one) for view in views[1:])
        size, has_low = profile.variance(which, int(one.argmax())), not maybe_zero[one].any()
        loss = allowed_loss(freedom[one].sum())
        low[one], high[one] = _hull([view.ends(size, loss, has_low=has_low) for view in views])
    return low, high, maybe_zero


def _hull(ends: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The standard deviations between which all of these variances lie."""
    low, high = np.array(ends).T
    return float(np.sqrt(low.min())), float(np.sqrt(high.max()))
