"""The two searches for the best widths: EM, then L-BFGS."""

from dataclasses import replace

import numpy as np

from hierbandits.fitting.expectation import Model
from hierbandits.fitting.objective import Problem
from hierbandits.types import Vector

_EM_STEPS = 10
_SMALL = -3.0  # log widths in the units below which a width may be on its way to zero


def search(problem: Problem, max_iterations: int, tolerance: float) -> tuple[Vector, list[float]]:
    """The coordinates of the top, and evidence + weak priors after each iteration."""
    model, trace = em(problem, min(_EM_STEPS, max_iterations), tolerance)
    free = problem.free(model)
    value = problem.value_and_slope(free)[0]
    trace = [value] if problem.form.shape == "low-rank" else [*trace, value]
    left = max_iterations - len(trace) + 1
    while left > 0:  # a fresh start, which forgets the old curvature, confirms the top
        free, climbed = climb(problem, free, trace[-1], left, tolerance)
        gain = climbed[-1] - trace[-1] if climbed else 0.0
        trace, left = trace + climbed, left - len(climbed)
        if gain < 10 * tolerance:
            break
    return _settled(problem, free), trace


def em(problem: Problem, steps: int, tolerance: float) -> tuple[Model, list[float]]:
    """A few EM steps from the start; for low-rank, on full covariances, for a start near it."""
    if problem.form.shape == "low-rank":
        form = replace(problem.form, shape="full")
        problem = replace(problem, form=form)
    model = problem.start
    trace: list[float] = []
    for _ in range(steps):
        found = problem.expect(model)
        trace.append(found.log_evidence + problem.log_prior(model))
        model = problem.improved(model, found)
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
            break
    return model, trace


def climb(
    problem: Problem, free: Vector, value: float, iterations: int, tolerance: float
) -> tuple[Vector, list[float]]:
    """L-BFGS from here, in steps of about one standard error; the value after each iteration."""
    from scipy.optimize import minimize  # slow to import

    trace: list[float] = []
    steps = problem.steps()

    def downhill(at: Vector) -> tuple[float, Vector]:
        height, slope = problem.value_and_slope(steps * at)
        return -height, -slope * steps

    def record(intermediate_result: object) -> None:
        trace.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]

    relative = max(tolerance / max(1.0, abs(value)), 4 * np.finfo(float).eps)
    options = {"maxiter": iterations, "ftol": relative, "gtol": 1e-9, "maxcor": 20}
    bounds = [
        (None if low is None else low / step, None if high is None else high / step)
        for (low, high), step in zip(problem.bounds(), steps, strict=True)
    ]
    result = minimize(
        downhill, free / steps, jac=True, method="L-BFGS-B", bounds=bounds,
        callback=record, options=options,
    )  # fmt: skip
    return steps * np.asarray(result.x), trace


def _settled(problem: Problem, free: Vector) -> Vector:
    """Logs that fall without end, all but flat, moved to the bound that they would reach.

    Only without weak priors, which have no slope left there.
    """
    if problem.form.weight > 0:
        return free
    value = problem.value_and_slope(free)[0]
    for i, (low, _) in enumerate(problem.bounds()):
        if low is None or free[i] > _SMALL:
            continue
        moved = free.copy()
        moved[i] = low
        if problem.value_and_slope(moved)[0] >= value - 1e-10 * abs(value):
            free = moved
    return free
