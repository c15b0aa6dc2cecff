"""How similar the tasks are: the learned widths and what they mean in rewards."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.interval_level import held_without_noise, miss_rates
from hierbandits.learning.width_evidence import feature_sizes
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.rounding import in_percent
from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Indices, Mask, Matrix, Name, Vector

if TYPE_CHECKING:
    from hierbandits.fitting import Fit

LEAST_REPEATS = 10
"""Rows beyond a fit to each task from which noise is told from differences between tasks."""

LEAST_PAIRS = 2  # tasks with data of two arms from which a log says anything of correlations
LARGEST_END = 1e70  # of a width without an upper end: its fourth power is a number


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Similarity:
    """What a fit learned, coordinate by coordinate (an arm or a feature each).

    A feature counts at its root mean square: `share` and `rewards_to_equal` hold for rewards that
    depend on it alone.  `told` says where a width means anything: where tasks of one population
    can be compared, and rewards of one task with each other.  What is not told is NaN.
    """

    is_armed: bool  # whether coordinates are arms
    coordinates: tuple[Name, ...]
    populations: tuple[Name, ...]
    mean: Matrix  # mu given the log, (P, d)
    mean_std: Matrix  # its posterior standard deviation, (P, d)
    mean_low: Matrix  # interval, see `confidence`; with few tasks it is longer than the normal one
    mean_high: Matrix
    task_std: Vector  # (d,)
    task_low: Vector  # interval, see `confidence`; 0 where the data do not tell the width from 0
    task_high: Vector  # infinite where the data set no limit
    maybe_zero: Mask  # whether the data do not tell the width from 0, (d,)
    hyper_std: Vector | None  # between populations, (d,); None with one population
    hyper_low: Vector | None
    hyper_high: Vector | None
    noise_std: float
    noise_low: float | None  # None if the noise was given
    noise_high: float | None
    noise_of_arms: Vector | None  # (K,); None: all have noise_std, otherwise their root mean square
    noise_of_arms_low: Vector | None  # 95 % interval
    noise_of_arms_high: Vector | None
    share: Vector  # of a reward's variance that lies between tasks, (d,)
    rewards_to_equal: Vector  # after which a task's own data weigh as much as other tasks, (d,)
    overall_share: float  # the same for the arms or features as they occur in the log
    share_ends: tuple[float, float]  # interval of it, see `confidence`
    rewards_ends: Matrix  # of rewards_to_equal, (2, d); infinite where the width may be zero
    repeats: int  # rows beyond those that a fit to each task takes: what noise is learned from
    tasks_seen: Indices  # tasks with data of each coordinate, (d,)
    pairs_seen: Indices  # the same less one for each population: what widths are learned from
    tasks_of_two: int  # tasks with data of two coordinates or more: what correlations are seen in
    condition: float  # the condition number of X'X, features scaled alike; 1 if armed
    converged: bool
    iterations: int
    log_evidence: float

    @classmethod
    def of(
        cls,
        fit: "Fit",
        posteriors: TaskPosteriors,
        sums: TaskSums,
        coordinates: tuple[Name, ...],
        populations: tuple[Name, ...],
    ) -> "Similarity":
        """Read the fit."""
        cov, armed, by_arm = fit.prior.task_cov, sums.is_armed, fit.has_noise_by_arm
        noise_var, noise_vars = fit.prior.noise_std**2, fit.noise_width.std**2
        mean_var = posteriors.hyper_cov
        if not posteriors.is_diagonal:
            mean_var = np.diagonal(mean_var, axis1=1, axis2=2)
            cov = np.diagonal(cov) if armed else cov
        between = fit.task_widths.std**2 * feature_sizes(sums) ** 2
        signal = float((sums.xx.sum(0) * cov).sum() / sums.n.sum())  # E x' Sigma_0 x
        many, noise, means = len(populations) > 1, fit.noise_width, fit.means
        assert means is not None
        learned = noise.is_learned
        noise_ends = _noise_ends(fit, sums) if learned else (noise_var, noise_var)
        seen, own = _tasks_seen(sums), posteriors.population
        pairs = np.zeros(seen.shape[1], np.intp)
        for p in range(len(populations)):
            pairs += np.maximum(seen[own == p].sum(0) - 1, 0)
        repeats = _repeats(sums)
        noise_told = not learned or repeats >= LEAST_REPEATS
        nan_noise = 0.0 if noise_told else np.nan  # what is added to it has no value
        untold = np.where((pairs > 0) & noise_told, 0.0, np.nan)
        unseen = np.where(seen.any(0), 0.0, np.nan)
        overall = 0.0 if np.isfinite(untold).any() else np.nan
        signals = _signal_ends(fit, sums, signal, np.isfinite(untold))
        with np.errstate(divide="ignore", over="ignore"):
            squares = np.array([fit.task_widths.high, fit.task_widths.low]) ** 2
            rewards_ends = noise_vars / (squares * feature_sizes(sums) ** 2)
        return cls(
            is_armed=armed,
            coordinates=coordinates,
            populations=populations,
            mean=posteriors.hyper_mean + unseen,
            mean_std=np.sqrt(mean_var) + unseen,
            mean_low=means.low + unseen,
            mean_high=means.high + unseen,
            task_std=fit.task_widths.std + untold,
            task_low=fit.task_widths.low + untold,
            task_high=fit.task_widths.high + untold,
            maybe_zero=fit.task_widths.maybe_zero,
            hyper_std=fit.hyper_widths.std + untold if many else None,
            hyper_low=fit.hyper_widths.low + untold if many else None,
            hyper_high=fit.hyper_widths.high + untold if many else None,
            noise_std=fit.prior.noise_std + nan_noise,
            noise_low=float(np.sqrt(noise_ends[0])) + nan_noise if learned else None,
            noise_high=float(np.sqrt(noise_ends[1])) + nan_noise if learned else None,
            noise_of_arms=noise.std + unseen if by_arm else None,
            noise_of_arms_low=noise.low + unseen if by_arm else None,
            noise_of_arms_high=noise.high + unseen if by_arm else None,
            share=between / (between + noise_vars) + untold,
            rewards_to_equal=noise_vars / between + untold,
            overall_share=signal / (signal + noise_var) + overall,
            share_ends=(
                signals[0] / (signals[0] + noise_ends[1]) + overall,
                signals[1] / (signals[1] + noise_ends[0]) + overall,
            ),
            rewards_ends=rewards_ends + untold,
            repeats=repeats,
            tasks_seen=seen.sum(0),
            pairs_seen=pairs,
            tasks_of_two=int((seen.sum(1) > 1).sum()),
            condition=_condition(sums),
            converged=fit.converged,
            iterations=fit.iterations,
            log_evidence=fit.log_evidence,
        )

    def __repr__(self) -> str:
        size, what = len(self.coordinates), "arms" if self.is_armed else "features"
        return (
            f"<Similarity over {size:,} {what}: tasks differ by {self.task_std.min():.3g} to "
            f"{self.task_std.max():.3g}, noise {self.noise_std:.3g}; "
            f"{in_percent(self.overall_share)} of the variance lies between tasks>"
        )

    def _repr_html_(self) -> str:
        rows = [
            [shown_name(name), ", ".join(f"{mean:.4g}" for mean in self.mean[:, j]),
             f"{self.task_std[j]:.3g}", f"{self.task_low[j]:.3g} to {self.task_high[j]:.3g}"]
            for j, name in enumerate(self.coordinates)
        ]  # fmt: skip
        sure = in_percent(self.confidence)
        columns = ("arm" if self.is_armed else "feature", "mean", "tasks differ by", sure)
        return notebook_card(repr(self), (), [("How similar tasks are", columns, rows)])

    @property
    def is_noise_told(self) -> bool:
        """Whether enough rewards repeat to tell noise from differences between tasks."""
        return self.noise_low is None or self.repeats >= LEAST_REPEATS

    @property
    def noises_with_ends(self) -> tuple[Vector, Vector, Vector] | None:
        """The noise of each arm and the ends of its interval, (K,) each; None: one for all."""
        low, high = self.noise_of_arms_low, self.noise_of_arms_high
        if self.noise_of_arms is None or low is None or high is None:
            return None
        return self.noise_of_arms, low, high

    @property
    def told(self) -> Mask:
        """Whether the log can say how much tasks differ in each coordinate, (d,)."""
        return (self.pairs_seen > 0) & self.is_noise_told

    @property
    def confidence(self) -> float:
        """How often, at least, intervals of means and task widths are meant to hold the truth."""
        return 1.0 - float(miss_rates(self.pairs_seen[self.told].astype(float)).max(initial=0.05))

    @property
    def held_without_noise(self) -> float:
        """How often intervals of task widths hold the truth where noise is small, at least."""
        return held_without_noise(float(self.pairs_seen[self.told].min()))

    def named(self, which: Mask) -> tuple[Name, ...]:
        """The names of these coordinates."""
        return tuple(name for name, yes in zip(self.coordinates, which, strict=True) if yes)


def _tasks_seen(sums: TaskSums) -> Mask:
    """Whether a task has data of a coordinate, (tasks, d)."""
    squares = sums.xx if sums.is_armed else np.diagonal(sums.xx, axis1=1, axis2=2)
    return squares > 0


def _repeats(sums: TaskSums) -> int:
    """Rows beyond those that a fit to each task alone would take."""
    if sums.is_armed:
        ranks = (sums.xx > 0).sum(1)
    else:
        sizes = feature_sizes(sums)
        ranks = np.linalg.matrix_rank(sums.xx / np.outer(sizes, sizes), hermitian=True)
    return int((sums.n - ranks).sum())


def _signal_ends(fit: "Fit", sums: TaskSums, signal: float, told: Mask) -> tuple[float, float]:
    """The ends of an interval of E x' Sigma_0 x, from those of the widths.

    Widths that are one and the same are off together; others each for themselves, so that the
    squares of their distances from the ends add up.  What is not told has no ends.
    """
    widths = fit.task_widths
    ends = np.nan_to_num(np.array([widths.std, widths.low, widths.high]))
    parts = np.where(told, np.minimum(ends, LARGEST_END), widths.std) ** 2
    weights = sums.xx.sum(0) if sums.is_armed else np.diagonal(sums.xx.sum(0))
    weights = weights / sums.n.sum()
    parts, same = np.unique(parts, axis=1, return_inverse=True)
    weights = np.bincount(same.ravel(), weights, parts.shape[1]).astype(float)
    whole = float(weights @ parts[0])
    if whole == 0:
        return 0.0, 0.0
    below, above = _ends_of_mean(weights, *parts)
    return signal * below / whole, signal * above / whole


def _noise_ends(fit: "Fit", sums: TaskSums) -> tuple[float, float]:
    """The ends of a 95 % interval of the noise variance, the mean over rewards."""
    noise = fit.noise_width
    parts = np.array([noise.std, noise.low, np.minimum(noise.high, LARGEST_END)]) ** 2
    weights = sums.xx.sum(0) / sums.n.sum() if fit.has_noise_by_arm else np.ones(1)
    return _ends_of_mean(weights, *parts)


def _ends_of_mean(
    weights: Vector, middle: Vector, low: Vector, high: Vector
) -> tuple[float, float]:
    """Of weights @ x, where each part of x is off for itself."""
    whole = float(weights @ middle)
    below = whole - np.sqrt(((weights * (middle - low)) ** 2).sum())
    above = whole + np.sqrt(((weights * (high - middle)) ** 2).sum())
    return max(float(below), 0.0), float(above)


def _condition(sums: TaskSums) -> float:
    """The largest over the smallest eigenvalue of the features' mean products, at most 1e15."""
    if sums.is_armed:
        return 1.0
    sizes = feature_sizes(sums)
    values = np.linalg.eigvalsh(sums.xx.sum(0) / np.outer(sizes, sizes))
    return float(values[-1] / max(values[0], 1e-15 * values[-1]))
