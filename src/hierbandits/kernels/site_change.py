"""What changes if the site of one event is replaced by the one that matches its reward now.

The event's linear predictor is N(mean, var) in what is known.  That without the event's own site is
its cavity.  The site that matches there takes the place of the old one, which is empty for a new
event.  To do so over and over is expectation propagation.
"""

from math import sqrt

from hierbandits.compiler import inlined
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.matched_site import log_share, matched_site
from hierbandits.types import Matrix

_MOST = 1e200  # a change that is larger, or no number, is not made
_LEFT = 1e-9  # a cavity with less than this left of its precision is not to be told from none

SITE_PARTS = 3
"""Of a site: its precision a, its weighted observation b, and the log of its scale."""


@inlined
def site_change(
    code: FamilyCode,
    reward: float,
    exposure: float,
    shape: float,
    mean: float,
    var: float,
    sites: Matrix,  # (3, E), those of all events; that of this one is replaced
    e: int,
    work: Matrix,  # of the shape WORK of `matched_site`
) -> tuple[float, float, float, float]:
    """The change of a site's precision and weighted observation, of the log evidence, and by far.

    The last is how far the linear predictor moves: the larger of its mean's change in standard
    deviations and, where it is small, of its log standard deviation's.
    """
    precision, weighted, scale = sites[0, e], sites[1, e], sites[2, e]
    left = 1.0 - precision * var
    if not left > _LEFT or not var > 0.0:
        if precision != 0.0 or weighted != 0.0:
            return 0.0, 0.0, 0.0, 0.0
        left = 1.0
    if not var > 0.0:  # nothing to learn, but the reward was more or less probable
        var = 1e-300
    before = (mean - weighted * var) / left
    own, along, log_z = matched_site(code, reward, exposure, shape, before, var / left, work)
    scale_now = log_z - log_share(before, var / left, own, along)
    gain, shift = own - precision, along - weighted
    log_change = log_z
    if precision != 0.0 or weighted != 0.0 or scale != 0.0:
        log_change = log_share(mean, var, gain, shift) + scale_now - scale
    if not abs(gain * var) + abs(shift) * sqrt(var) + abs(log_change) + abs(scale_now) < _MOST:
        return 0.0, 0.0, 0.0, 0.0  # what was known says that there is no such reward
    sites[0, e], sites[1, e], sites[2, e] = own, along, scale_now
    moved = sqrt(var) * abs(shift - gain * mean) / (1.0 + gain * var)
    return gain, shift, log_change, max(moved, 0.5 * abs(gain * var))
