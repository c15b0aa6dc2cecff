"""How probable rewards of a family are, if their linear predictors are Gaussian."""

from hierbandits.compiler import compiled
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.matched_site import matched_site
from hierbandits.types import Vector


@compiled
def log_predictive(
    code: FamilyCode,
    shape: float,
    rewards: Vector,
    exposure: Vector,
    mean: Vector,  # of linear predictors, (E,)
    var: Vector,
    out: Vector,  # changed: the log densities, but for what does not depend on predictors; NaN
    # where the family gives no number
) -> None:
    """Fill in the log of each reward's density, an integral over its linear predictor."""
    for e in range(rewards.size):
        known = max(var[e], 1e-12)
        out[e] = matched_site(code, rewards[e], exposure[e], shape, mean[e], known)[2]
