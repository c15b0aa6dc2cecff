"""Intervals of widths: how far each may go before the log evidence, all else refitted, falls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from hierbandits.fitting.objective import Objective
from hierbandits.fitting.structure import LARGEST_LOG_WIDTH
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.types import Indices, Mask, Matrix, Vector

_NEARLY_ZERO = 1e-4
"""A width that stands for zero, in the data's units; much less, and rounding counts."""

_MOST = 1e2  # of a width, in the data's units
_TOLERANCE = 1e-3  # of log evidence
_SLACK = 0.1  # of log evidence, at an end

Which: TypeAlias = Literal["task_scale", "hyper_scale"]
Sloped: TypeAlias = tuple[float, Vector]  # a value and its slope
Size: TypeAlias = Callable[[Vector], Sloped]  # a variance at some coordinates


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The log evidence without weak priors, in coordinates in which a width may reach zero.

    Variances (with a full covariance, the diagonal of its Cholesky factor) take the place of log
    widths: near zero the evidence has a slope by the variance, and none by the log.
    """

    objective: Objective  # without weak priors
    powers: Vector  # a coordinate is exp(power * free number); 0: it is the free number
    errors: Matrix  # the covariance of the coordinates, roughly, which scales the searches
    top: Vector  # where the evidence is highest
    highest: float

    @classmethod
    def of(cls, objective: Objective, free: Vector, covariance: Matrix) -> "Profile":
        """Climb from the top of the evidence with weak priors, where `covariance` was measured."""
        objective = replace(objective, weak=WeakPrior.none())
        powers = objective.powers()
        at = np.where(powers > 0, np.exp(powers * free), free)
        by_free = np.where(powers > 0, powers * at, 1.0)
        errors = by_free[:, None] * covariance * by_free
        start = cls(objective, powers, errors, at, -np.inf)
        return replace(start, top=np.clip(at, *start._ends_of_search()))._climbed()

    def without(self, which: Which, zero: Mask) -> "Profile":
        """The same where these widths are zero, and the rest is fitted again."""
        return self._at_zero(which, zero)._climbed()

    def may_be_zero(self, which: Which, zero: Mask) -> bool:
        """Whether the log evidence bears that these widths, those of one test, are zero."""
        limit = self.highest - self.objective.structure.critical_loss
        at_zero = self._at_zero(which, zero)
        return at_zero._value(self.top)[0] > limit or at_zero._climbed().highest > limit

    def _at_zero(self, which: Which, zero: Mask) -> "Profile":
        scale = np.where(zero, _NEARLY_ZERO, 1.0)
        before = getattr(self.objective, which)
        scale = scale if before is None else np.minimum(scale, before)
        if which == "task_scale":
            return replace(self, objective=replace(self.objective, task_scale=scale))
        return replace(self, objective=replace(self.objective, hyper_scale=scale))

    def ends(self, size: Size, loss: float, *, has_low: bool) -> tuple[float, float]:
        """The least and the largest variance with which the log evidence loses at most `loss`."""
        return self._end(size, loss, -1.0) if has_low else 0.0, self._end(size, loss, 1.0)

    def noise_var(self, arm: int) -> Size:
        """The noise variance of an arm; 0 is that of all rewards if they have one."""
        row = int(self._rows(1)[arm])

        def size(at: Vector) -> Sloped:
            variance, slope = float(np.exp(2 * at[row])), np.zeros(at.size)
            slope[row] = 2 * variance
            return variance, slope

        return size

    def variance(self, which: Which, coordinate: int) -> Size:
        """A variance of task_cov or hyper_cov."""
        rows, structure = self._rows(0 if which == "task_scale" else 3), self.objective.structure
        powers = self.powers[rows]
        along = np.zeros(structure.dim)
        along[coordinate] = 1.0
        gradient = along if structure.is_diagonal else np.diag(along)

        def size(at: Vector) -> Sloped:
            free, slope = _free(powers, at[rows]), np.zeros(at.size)
            slope[rows] = _by_coordinate(powers, at[rows], structure.slope(free, gradient))
            return float((structure.cov(free) * gradient).sum()), slope

        return size

    def _value(self, at: Vector) -> Sloped:
        height, slope = self.objective.value_and_slope(_free(self.powers, at))
        return height, _by_coordinate(self.powers, at, slope)

    def _climbed(self) -> "Profile":
        from scipy.optimize import minimize  # slow to import

        steps = self._steps()

        def downhill(at: Vector) -> Sloped:
            height, slope = self._value(at * steps)
            return -height, -slope * steps

        relative = _TOLERANCE / max(1.0, abs(self._value(self.top)[0]))
        options = {"maxiter": 60, "ftol": max(relative, 1e-15), "gtol": 1e-9, "maxcor": 20}
        result = minimize(
            downhill, self.top / steps, jac=True, method="L-BFGS-B", options=options,
            bounds=np.transpose(self._ends_of_search() / steps),
        )  # fmt: skip
        return replace(self, top=steps * np.asarray(result.x), highest=-float(result.fun))

    def _end(self, size: Size, loss: float, sign: float) -> float:
        """The variance at one end, by sequential quadratic programming.

        It maximises the variance, or minimises it, where the evidence is high enough.  The search
        is scaled so that it needs a single step if the evidence is quadratic.
        """
        from scipy.optimize import minimize  # slow to import

        steps, (low, high), reach = self._steps(), self._ends_of_search(), np.sqrt(2 * loss)
        middle, along = size(self.top)
        far = self.errors @ along
        error = np.sqrt(max(float(along @ far), 1e-16))
        start = self.top + sign * reach * far / error
        start = np.clip(start, np.where(self.powers > 0, 0.1 * self.top, low), high)
        known: dict[bytes, Sloped] = {}
        ends: list[float] = [middle]  # that are allowed

        def allowed(at: Vector) -> Sloped:
            key = at.tobytes()
            if key not in known:
                clipped = np.clip(at * steps, low, high)
                height, slope = self._value(clipped)
                left = loss + height - self.highest
                if left > 2 * loss:  # there is no such top: a nearly singular covariance is broken
                    left = -left
                elif left > -_SLACK:
                    ends.append(size(clipped)[0])
                known[key] = left, slope * steps
            return known[key]

        def inward(at: Vector) -> Sloped:
            variance, slope = size(np.clip(at * steps, low, high))
            factor = -sign * reach * (middle + error) / error
            return factor * np.log(variance + error), factor / (variance + error) * slope * steps

        limit = {"type": "ineq", "fun": lambda x: allowed(x)[0], "jac": lambda x: allowed(x)[1]}
        result = minimize(
            inward, start / steps, jac=True, method="SLSQP", constraints=limit,
            bounds=np.transpose([low / steps, high / steps]),
            options={"maxiter": 60, "ftol": 1e-4},
        )  # fmt: skip
        end = np.clip(result.x * steps, low, high)
        left = allowed(np.asarray(result.x))[0]
        edge = high if sign > 0 else low
        if left > _SLACK and np.isclose(end, edge, rtol=1e-3)[along != 0].any():
            return np.inf if sign > 0 else 0.0  # the evidence sets no limit
        return float(size(end)[0] if abs(left) <= _SLACK else max(sign * e for e in ends) * sign)

    def _rows(self, part: int) -> Indices:
        sizes = [each.size for each in self.objective.split(self.top)]
        return np.split(np.arange(self.top.size), np.cumsum(sizes)[:-1])[part]

    def _steps(self) -> Vector:
        """About the errors of the coordinates; a flat direction makes some of them endless."""
        errors = np.sqrt(np.maximum(np.diagonal(self.errors), 1e-12))
        return np.minimum(errors, np.maximum(np.abs(self.top), 0.1))

    def _ends_of_search(self) -> tuple[Vector, Vector]:
        """The least and the largest value of each coordinate; widths at zero stay as they are."""
        objective, logs = self.objective, self.powers > 0
        high = np.full(self.top.size, _MOST)
        high[self._rows(1)], high[self._rows(2)] = LARGEST_LOG_WIDTH, np.inf
        low = np.where(logs, _NEARLY_ZERO**self.powers, -high)
        high = np.where(logs, _MOST**self.powers, high)
        for part, scale in ((0, objective.task_scale), (3, objective.hyper_scale)):
            if scale is not None:
                held = self._rows(part)[objective.structure.numbers_of(scale < 1.0)]
                low[held] = high[held] = self.top[held]
        return low, high


def _free(powers: Vector, at: Vector) -> Vector:
    logs = powers > 0
    return np.where(logs, np.log(np.where(logs, at, 1.0)) / np.where(logs, powers, 1.0), at)


def _by_coordinate(powers: Vector, at: Vector, slope: Vector) -> Vector:
    """A slope by free numbers, as one by coordinates."""
    return slope / np.where(powers > 0, powers * at, 1.0)
