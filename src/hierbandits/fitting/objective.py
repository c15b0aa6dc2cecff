"""What a fit maximises: log evidence plus weak priors, in unconstrained coordinates."""

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.expectation import Expectation, HierarchyParts, e_step
from hierbandits.fitting.rotations import Rotations
from hierbandits.fitting.structure import LARGEST_LOG_WIDTH, Structure
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.types import Indices, Mask, Matrix, Vector

_LEAST_CURVATURE = 1e-2
"""Of the log density along any free number: its weak prior leaves it no wider than that."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Objective:
    """The objective in unconstrained coordinates: task_cov, noise, hyper_mean, hyper_cov."""

    sums: TaskSums
    population: Indices  # of each task, in rising order
    num_populations: int
    structure: Structure
    start: HierarchyParts
    learns_noise: bool
    learns_mean: bool
    learns_hyper: bool
    weak: WeakPrior
    task_scale: Vector | None = None  # of each coordinate's width in task_cov; None: 1
    hyper_scale: Vector | None = None
    squares: Vector | None = None  # of each arm's rewards, (K,), if each has its noise

    def expectation(self, hierarchy: HierarchyParts) -> Expectation:
        """The E-step."""
        return e_step(hierarchy, self.sums, self.population, self.num_populations, self.squares)

    def log_prior(self, hierarchy: HierarchyParts) -> float:
        """The weak priors, up to constants."""
        total = self.structure.log_weak(hierarchy.task_cov, self.weak, hierarchy.factor)
        if self.learns_noise:
            total += self.weak.log_noise(np.log(np.atleast_1d(hierarchy.noise_var)) / 2)
        if self.learns_hyper:
            total += self.structure.log_weak(hierarchy.hyper_cov, self.weak, hierarchy.hyper_factor)
        return total

    def improved(self, hierarchy: HierarchyParts, expected: Expectation) -> HierarchyParts:
        """The M-step, which never lowers the value; covariances without one stay as they are."""
        mean, hyper = hierarchy.hyper_mean, hierarchy.hyper_cov
        task, noise = hierarchy.task_cov, hierarchy.noise_var
        structure = self.structure
        if structure.has_m_step:
            scatter = expected.task_scatter(task)
            task = structure.maximise(scatter, expected.num_tasks, self.weak, task)
        if self.learns_noise:
            square = np.maximum(expected.square, np.exp(-2 * LARGEST_LOG_WIDTH))
            before = np.log(np.atleast_1d(noise)) / 2
            noise = self._noise_of(self.weak.best_noise(square, expected.num_events, before))
        if self.learns_mean and self.num_populations:
            mean = expected.hyper_means.mean(0)
        if self.learns_hyper and structure.has_m_step:
            scatter = expected.hyper_scatter(hyper, hierarchy.hyper_mean, mean)
            hyper = structure.maximise(scatter, self.num_populations, self.weak, hyper)
        return HierarchyParts(mean, hyper, task, noise)

    def free(self, hierarchy: HierarchyParts) -> Vector:
        """The unconstrained coordinates of a hierarchy."""
        parts = [self.structure.free(hierarchy.task_cov)]
        if self.learns_noise:
            parts.append(np.log(np.atleast_1d(hierarchy.noise_var)) / 2)
        if self.learns_mean:
            parts.append(hierarchy.hyper_mean)
        if self.learns_hyper:
            parts.append(self.structure.free(hierarchy.hyper_cov))
        return np.concatenate(parts)

    def split(self, free: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """The coordinates of task_cov, noise, hyper_mean and hyper_cov; empty where not learned."""
        sizes = [self.structure.size, self.num_noises, self.learns_mean * self.structure.dim]
        task, noise, mean = accumulate(sizes)
        return free[:task], free[task:noise], free[noise:mean], free[mean:]

    def hierarchy(self, free: Vector) -> HierarchyParts:
        """The hierarchy at these coordinates."""
        task, noise, mean, hyper = self.split(free)
        hyper_cov = self.structure.cov(hyper) if self.learns_hyper else self.start.hyper_cov
        parts = HierarchyParts(
            mean if self.learns_mean else self.start.hyper_mean,
            _scaled(hyper_cov, self.hyper_scale),
            self.structure.cov(task),
            self._noise_of(noise) if self.learns_noise else self.start.noise_var,
            self.structure.factor(task),
            self.structure.factor(hyper) if self.learns_hyper else None,
        )
        if self.task_scale is None:
            return parts
        factor = parts.factor_of_tasks()
        if factor is not None:
            factor = factor[0] * self.task_scale**2, (factor[1].T * self.task_scale).T
        return replace(parts, task_cov=_scaled(parts.task_cov, self.task_scale), factor=factor)

    @property
    def num_noises(self) -> int:
        """How many noises are learned: none, one for all rewards, or one for each arm."""
        if not self.learns_noise:
            return 0
        return 1 if self.squares is None else self.squares.size

    @property
    def events_of_noise(self) -> Vector:
        """The rewards that each noise is learned from, (1,), or (K,)."""
        counts: Vector
        counts = self.sums.n.sum(keepdims=True) if self.squares is None else self.sums.xx.sum(0)
        return counts

    def _noise_of(self, logs: Vector) -> float | Vector:
        """The noise variances of these log noises, within the bounds of the search."""
        kept = np.exp(2 * np.maximum(logs, -LARGEST_LOG_WIDTH))
        return float(kept[0]) if self.squares is None else kept

    def powers(self) -> Vector:
        """Of each coordinate, p where it is the log of a number's p-th root; 0 if it is no log.

        The numbers are variances, or the diagonal of a full covariance's Cholesky factor.
        """
        sizes = [self.structure.size, self.num_noises, self.learns_mean * self.structure.dim]
        power = 1.0 if self.structure.kind == "full" else 2.0
        logs = np.array([power * (low is not None) for low, _ in self.bounds()])
        logs[sizes[0] : sum(sizes)] = 0.0
        return logs

    def bounds(self) -> list[tuple[float | None, float | None]]:
        """The bounds of each coordinate."""
        log: tuple[float | None, float | None] = (-LARGEST_LOG_WIDTH, LARGEST_LOG_WIDTH)
        free: tuple[float | None, float | None] = (None, None)
        bounds = self.structure.bounds() + [log] * self.num_noises
        bounds += [free] * (self.learns_mean * self.structure.dim)
        return bounds + self.structure.bounds() * self.learns_hyper

    def at_bound(self, free: Vector) -> Mask:
        """Which coordinates sit at a bound."""
        inside = [
            low is None or low < at < -low for at, (low, _) in zip(free, self.bounds(), strict=True)
        ]
        return ~np.array(inside, bool)

    def steps(self) -> Vector:
        """A lower bound on the standard error of each coordinate, which scales the search."""
        populations = self.num_populations
        counts = (np.array(len(self.sums.n)), self.events_of_noise, *[np.array(populations)] * 2)
        parts = zip(counts, self.split(self.free(self.start)), strict=True)
        every = [np.broadcast_to(count, part.shape) for count, part in parts]
        return 1 / np.sqrt(1.0 + 2.0 * np.concatenate(every))

    def value_and_slope(self, free: Vector) -> tuple[float, Vector]:
        """Log evidence + weak priors and its exact gradient, by Fisher's identity."""
        hierarchy = self.hierarchy(free)
        expected = self.expectation(hierarchy)
        task, noise, _, hyper = self.split(free)
        structure = self.structure
        along = structure.slope(task, _scaled(expected.task_cov_slope, self.task_scale))
        slopes: list[Vector] = [along + structure.weak_slope(task, self.weak)]
        if self.learns_noise:
            along = expected.square / np.exp(2 * noise) - expected.num_events
            slopes.append(along + self.weak.noise_slope(noise))
        if self.learns_mean:
            slopes.append(expected.hyper_mean_slope)
        if self.learns_hyper:
            along = structure.slope(hyper, _scaled(expected.hyper_cov_slope, self.hyper_scale))
            slopes.append(along + structure.weak_slope(hyper, self.weak))
        return expected.log_evidence + self.log_prior(hierarchy), np.concatenate(slopes)

    def log_marginal(self, free: Vector, value: float, information: Matrix) -> float | None:
        """The log density of the rewards with all widths integrated out, by Laplace's method.

        `value` is the highest one and `information` the curvature there, at `free`.  Without proper
        weak priors there is none.  Structures of one log can be compared by it: what else they have
        in common, a flat density of hyper_mean and the noise's, is the same constant for all.
        Loadings of low rank have as high a value wherever they are rotated to: all of that counts.
        """
        if self.weak.covariance_weight == 0.0:
            return None
        task, _, _, hyper = self.split(free)
        log_volume = 0.0
        along = [np.empty((0, free.size))]
        if self.structure.kind == "low-rank":
            starts = [(task, 0)]
            if hyper.size:
                starts.append((hyper, free.size - hyper.size))
            for part, start in starts:
                rotations = Rotations.of(self.structure.split(part)[0])
                log_volume += rotations.log_volume
                after = free.size - start - rotations.along.shape[1]
                along.append(np.pad(rotations.along, ((0, 0), (start, after))))
        flat = np.concatenate(along)
        across = np.eye(free.size) - flat.T @ flat
        curvatures = np.linalg.eigvalsh(across @ information @ across + flat.T @ flat)
        curvatures = np.maximum(curvatures, _LEAST_CURVATURE)  # 1 along the rotations
        log_volume += (free.size - len(flat)) * np.log(2 * np.pi) / 2
        log_volume -= np.log(curvatures).sum() / 2
        return float(value - (1 + self.learns_hyper) * self.structure.log_scale + log_volume)

    def curvature(self, free: Vector, slope: Vector, step: float = 1e-4) -> Matrix:
        """The observed information: minus the Hessian, by differences of the slope."""
        rows = []
        for i in range(free.size):
            move = np.zeros(free.size)
            move[i] = step
            rows.append((slope - self.value_and_slope(free + move)[1]) / step)
        information = np.array(rows)
        return (information + information.T) / 2


def _scaled(matrix: Matrix, scale: Vector | None) -> Matrix:
    """S M S, with S diagonal."""
    if scale is None:
        return matrix
    return matrix * (scale**2 if matrix.ndim == 1 else np.outer(scale, scale))
