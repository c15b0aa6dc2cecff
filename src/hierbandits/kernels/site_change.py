"""What changes if the site of one event is replaced by the one that matches its reward now.

The event's linear predictor is N(mean, var) in what is known.  That without the event's own site is
its cavity.  The site that matches there takes the place of the old one, which is empty for a new
event.  To do so over and over is expectation propagation.
"""

from math import log, sqrt

import numpy as np

from hierbandits.compiler import inlined
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.matched_site import log_share, matched_moments
from hierbandits.kernels.plain_log import plain_log
from hierbandits.types import Matrix, Vector

_MOST = 1e200  # a change whose square is larger, or no number, is not made
_LEFT = 1e-9  # a cavity with less than this left of its precision is not to be told from none

SITE_PARTS = 3
"""Of a site: its precision a, its weighted observation b, and the log of its scale."""


Site = tuple[float, float, float]

Change = tuple[Site, float, float, float, float, float]
"""The site as it is now, what its log scale lacks half the log of, and what has changed.

That is the change of its precision, of its weighted observation and of the log evidence, and the
square of how far the linear predictor moves: the larger of its mean's change in standard deviations
and, where it is small, of its log standard deviation's.  Roots are slow, and squares compare alike.
"""


@inlined
def site_change(
    code: FamilyCode,
    reward: float,
    exposure: float,
    shape: float,
    mean: float,
    var: float,
    site: Site,
) -> Change:
    """Replace the site of an event by the one that matches.

    It takes and returns numbers alone: an array that is passed on costs as much as all of this.
    If a family that may give no number gives none for a reward that has no site yet, the predictor
    moves by NaN; a site that is there stays.
    """
    precision, weighted, scale = site
    is_new = precision == 0.0 and weighted == 0.0 and scale == 0.0
    cavity, before = var, mean
    if not is_new:
        left = 1.0 - precision * var
        if not left > _LEFT or not var > 0.0:
            return site, 1.0, 0.0, 0.0, 0.0, 0.0
        cavity, before = var / left, (mean - weighted * var) / left
    elif not var > 0.0:  # nothing to learn, but the reward was more or less probable
        cavity = 1e-300
    log_z, slope, curvature, kept = matched_moments(code, reward, exposure, shape, before, cavity)
    pull, per = slope + before * curvature, 1.0 / kept
    own, along = curvature * per, pull * per
    # What `log_share` of the new site has besides log(kept) / 2.
    scale_now = log_z - 0.5 * (before * (slope + pull) + cavity * pull * along)
    gain, shift, log_change = own, along, log_z
    moved = cavity * slope * slope
    if not is_new:
        scale_now -= 0.5 * log(kept)
        kept = 1.0
        gain, shift = own - precision, along - weighted
        log_change = log_share(mean, var, gain, shift) + scale_now - scale
        pull = (shift - gain * mean) / (1.0 + gain * var)
        moved = var * pull * pull
    narrowed = 0.25 * (gain * var) * (gain * var)
    if not moved + narrowed + abs(log_change) + abs(scale_now) < _MOST:
        if code[5] != 0 and is_new and log_z != log_z:
            return site, 1.0, 0.0, 0.0, 0.0, np.nan
        return site, 1.0, 0.0, 0.0, 0.0, 0.0  # what was known says that there is no such reward
    return (own, along, scale_now), kept, gain, shift, log_change, max(moved, narrowed)


@inlined
def site_of(sites: Matrix, event: int, base: Vector) -> Site:
    """The site that an event has; that of a new one, which has a log base, is empty."""
    if base.size:
        return 0.0, 0.0, 0.0
    return sites[0, event], sites[1, event], sites[2, event]


@inlined
def note_move(furthest: Matrix, tree: int | np.uintp, moved: float, own: float, var: float) -> None:
    """Raise how far predictors of a population moved, and what of it comes from above the task.

    `moved` is a square.  Of the predictor's variance `own` is the task's own.
    """
    if moved > furthest[0, tree] * furthest[0, tree]:
        furthest[0, tree] = sqrt(moved)
    above = moved * (var - own)
    if above > furthest[1, tree] * furthest[1, tree] * var:
        furthest[1, tree] = sqrt(above / var)


@inlined
def end_scales(sites: Matrix, kept: Vector) -> None:
    """Take half the logs of `kept` from the log scales of sites: several at once, so quickly."""
    for e in range(kept.size):
        sites[2, e] -= 0.5 * plain_log(kept[e])
