"""The two searches for the best widths: EM, then L-BFGS."""

from dataclasses import replace

import numpy as np

from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.objective import Objective
from hierbandits.types import Vector

_EM_STEPS = 10
_SMALL = -3.0  # a log width below this may be on its way to zero


def search(
    objective: Objective, max_iterations: int, tolerance: float
) -> tuple[Vector, list[float]]:
    """The coordinates of the top, and evidence + weak priors after each iteration."""
    hierarchy, trace = em(objective, min(_EM_STEPS, max_iterations), tolerance)
    free = objective.free(hierarchy)
    value = objective.value_and_slope(free)[0]
    trace = [*trace, value] if objective.structure.has_m_step else [value]
    left = max_iterations - len(trace) + 1
    while left > 0:  # a fresh start, which forgets the old curvature, confirms the top
        free, climbed = climb(objective, free, trace[-1], left, tolerance)
        rise = climbed[-1] - trace[-1] if climbed else 0.0
        trace, left = trace + climbed, left - len(climbed)
        if rise < 10 * tolerance:
            break
    return _settled(objective, free), trace


def em(objective: Objective, steps: int, tolerance: float) -> tuple[HierarchyParts, list[float]]:
    """A few EM steps from the start.

    For a structure without an M-step they are steps on full covariances, which end near the best.
    With arms the covariance nearest to each follows it: a few factors are quick to integrate out.
    """
    own = objective
    if not objective.structure.has_m_step:
        full = replace(objective.structure, kind="full")
        objective = replace(objective, structure=full)
    hierarchy = objective.start
    trace: list[float] = []
    for _ in range(steps):
        expected = objective.expectation(hierarchy)
        trace.append(expected.log_evidence + objective.log_prior(hierarchy))
        hierarchy = objective.improved(hierarchy, expected)
        if own is not objective and own.sums.is_armed:
            hierarchy = own.hierarchy(own.free(hierarchy))
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
            break
    return hierarchy, trace


def climb(
    objective: Objective, free: Vector, value: float, iterations: int, tolerance: float
) -> tuple[Vector, list[float]]:
    """L-BFGS from these coordinates; returns the top, and the value after each iteration.

    Coordinates are scaled so that a step of one is about one standard error.
    """
    from scipy.optimize import minimize  # slow to import

    trace: list[float] = []
    steps = objective.steps()

    def downhill(at: Vector) -> tuple[float, Vector]:
        height, slope = objective.value_and_slope(steps * at)
        return -height, -slope * steps

    def record(intermediate_result: object) -> None:
        trace.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]

    relative = max(tolerance / max(1.0, abs(value)), 4 * np.finfo(float).eps)
    options = {"maxiter": iterations, "ftol": relative, "gtol": 1e-9, "maxcor": 20}
    bounds = [
        (None if low is None else low / step, None if high is None else high / step)
        for (low, high), step in zip(objective.bounds(), steps, strict=True)
    ]
    result = minimize(
        downhill, free / steps, jac=True, method="L-BFGS-B", bounds=bounds,
        callback=record, options=options,
    )  # fmt: skip
    return steps * np.asarray(result.x), trace


def _settled(objective: Objective, free: Vector) -> Vector:
    """Move small log widths to their bound where that costs nothing.

    Without weak priors the evidence is flat there, and a width falls for ever towards zero.
    """
    if objective.weak.covariance_weight > 0:
        return free
    value = objective.value_and_slope(free)[0]
    for i, (low, _) in enumerate(objective.bounds()):
        if low is None or free[i] > _SMALL:
            continue
        moved = free.copy()
        moved[i] = low
        if objective.value_and_slope(moved)[0] >= value - 1e-10 * abs(value):
            free = moved
    return free
