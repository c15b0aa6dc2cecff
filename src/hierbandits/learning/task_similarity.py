"""How similar the tasks are: the learned widths and what they mean in rewards."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.width_evidence import feature_sizes
from hierbandits.types import Mask, Matrix, Name, Vector

if TYPE_CHECKING:
    from hierbandits.fitting import Fit


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Similarity:
    """What a fit learned, coordinate by coordinate (an arm or a feature each).

    A feature counts at its root mean square: `share` and `rewards_to_equal` hold for rewards that
    depend on it alone.
    """

    is_armed: bool  # whether coordinates are arms
    coordinates: tuple[Name, ...]
    populations: tuple[Name, ...]
    mean: Matrix  # mu given the log, (P, d)
    mean_std: Matrix  # its posterior standard deviation, (P, d)
    mean_low: Matrix  # 95 % interval; with few tasks it is longer than the normal one
    mean_high: Matrix
    task_std: Vector  # (d,)
    task_low: Vector  # 95 % interval; 0 where the data do not tell the width from 0
    task_high: Vector  # infinite where the data set no limit
    maybe_zero: Mask  # whether the data do not tell the width from 0, (d,)
    hyper_std: Vector | None  # between populations, (d,); None with one population
    hyper_low: Vector | None
    hyper_high: Vector | None
    noise_std: float
    noise_low: float | None  # None if the noise was given
    noise_high: float | None
    share: Vector  # of a reward's variance that lies between tasks, (d,)
    rewards_to_equal: Vector  # after which a task's own data weigh as much as other tasks, (d,)
    overall_share: float  # the same for the arms or features as they occur in the log
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
        cov, armed, noise_var = fit.prior.task_cov, sums.is_armed, fit.prior.noise_std**2
        mean_var = posteriors.hyper_cov
        if not posteriors.is_diagonal:
            mean_var = np.diagonal(mean_var, axis1=1, axis2=2)
            cov = np.diagonal(cov) if armed else cov
        between = fit.task_widths.std**2 * feature_sizes(sums) ** 2
        signal = float((sums.xx.sum(0) * cov).sum() / sums.n.sum())  # E x' Sigma_0 x
        many, noise, means = len(populations) > 1, fit.noise_width, fit.means
        assert means is not None
        return cls(
            is_armed=armed,
            coordinates=coordinates,
            populations=populations,
            mean=posteriors.hyper_mean,
            mean_std=np.sqrt(mean_var),
            mean_low=means.low,
            mean_high=means.high,
            task_std=fit.task_widths.std,
            task_low=fit.task_widths.low,
            task_high=fit.task_widths.high,
            maybe_zero=fit.task_widths.maybe_zero,
            hyper_std=fit.hyper_widths.std if many else None,
            hyper_low=fit.hyper_widths.low if many else None,
            hyper_high=fit.hyper_widths.high if many else None,
            noise_std=fit.prior.noise_std,
            noise_low=float(noise.low[0]) if noise.is_learned else None,
            noise_high=float(noise.high[0]) if noise.is_learned else None,
            share=between / (between + noise_var),
            rewards_to_equal=noise_var / between,
            overall_share=signal / (signal + noise_var),
            condition=_condition(sums),
            converged=fit.converged,
            iterations=fit.iterations,
            log_evidence=fit.log_evidence,
        )


def _condition(sums: TaskSums) -> float:
    """The largest over the smallest eigenvalue of the features' mean products, at most 1e15."""
    if sums.is_armed:
        return 1.0
    sizes = feature_sizes(sums)
    values = np.linalg.eigvalsh(sums.xx.sum(0) / np.outer(sizes, sizes))
    return float(values[-1] / max(values[0], 1e-15 * values[-1]))
