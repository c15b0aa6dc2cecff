"""What the theorems use of a hierarchy: a few eigenvalues and norms, for arms in the unit ball."""

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np

from hierbandits.algebra import eigenvalues, is_singular
from hierbandits.checks import count, positive
from hierbandits.models.hierarchy import GaussianHierarchy


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectrum:
    """The eigenvalues and norms that the bounds are made of, in units where arms are short.

    The theorems assume arms of norm at most 1.  An arm x of norm at most b with the parameter
    theta has the same reward as the arm x / b with the parameter b theta.  So the hyper-mean is
    multiplied by b, the covariances by b^2, and eta is divided by b^2.  The eigenvalues of
    diagonal covariances are their variances.
    """

    dim: int  # d, or K if armed
    is_armed: bool
    is_diagonal: bool
    max_norm: float  # b
    noise_var: float  # sigma^2
    largest_hyper: float  # lambda_1(Sigma_q)
    largest_task: float  # lambda_1(Sigma_0)
    least_task: float  # lambda_d(Sigma_0)
    largest_total: float  # lambda_1(Sigma_q + Sigma_0)
    total_trace: float  # tr(Sigma_q + Sigma_0)
    mean_norm: float  # ||mu_q|| in the norm of (Sigma_q + Sigma_0)^-1
    mean_gap: float  # the most by which two arms' mean rewards under mu_q can differ

    @classmethod
    def of(cls, prior: GaussianHierarchy, max_norm: float = 1.0) -> "Spectrum":
        """The spectrum of a two-level hierarchy whose arms have at most this norm."""
        check_two_levels(prior)
        norm = float(positive("max_norm", max_norm, ()))
        if prior.is_armed and norm != 1:
            raise ValueError(
                f"max_norm must be 1 for an armed prior, whose arms are unit vectors, got {norm}"
            )
        scaled = prior.with_levels(norm * prior.hyper_mean, [norm**2 * c for c in prior.covs])
        mean, total_cov = scaled.hyper_mean, scaled.hyper_cov + scaled.task_cov
        hyper, task, total = (
            eigenvalues(cov) for cov in (scaled.hyper_cov, scaled.task_cov, total_cov)
        )
        matrix = np.diag(total_cov) if scaled.is_diagonal else total_cov
        gap = float(np.ptp(mean)) if scaled.is_armed else 2 * float(np.linalg.norm(mean))
        return cls(
            dim=scaled.dim,
            is_armed=scaled.is_armed,
            is_diagonal=scaled.is_diagonal,
            max_norm=norm,
            noise_var=scaled.noise_std**2,
            largest_hyper=max(0.0, float(hyper[-1])),
            largest_task=float(task[-1]),
            least_task=float(task[0]),
            largest_total=float(total[-1]),
            total_trace=float(total.sum()),
            mean_norm=sqrt(mean @ np.linalg.solve(matrix, mean)),
            mean_gap=gap,
        )

    @property
    def condition(self) -> float:
        """kappa: lambda_1(Sigma_0) / lambda_d(Sigma_0)."""
        return self.largest_task / self.least_task

    @property
    def c(self) -> float:
        """1 + lambda_1(Sigma_0) / sigma^2.  [HBB, Theorem sequential regret]"""
        return 1 + self.largest_task / self.noise_var

    def c1(self, num_interactions: int) -> float:
        """The variance of learning one task, per dimension.  [HBB, Theorem sequential regret]

        lambda_1(Sigma_0) / log(1 + lambda_1(Sigma_0) / sigma^2)
            * log(1 + lambda_1(Sigma_0) n / (sigma^2 d))
        """
        information = log1p(self.largest_task * num_interactions / (self.noise_var * self.dim))
        return self.variance_per_information(self.largest_task) * information

    def variance_per_information(self, largest: float) -> float:
        """The largest v / log(1 + v / sigma^2) for variances v up to `largest`.

        It is reached at v = largest; for largest = 0 it is the limit, sigma^2.  [HBB, Proof of
        Theorem sequential regret]
        """
        signal = largest / self.noise_var
        return largest / log1p(signal) if signal > 0 else self.noise_var

    def unit_eta(self, eta: float | None) -> float:
        """Assumption 1's eta for unit arms, checked; 1 by default if armed.  [HBB, Assumption 1]"""
        if eta is None:
            if not self.is_armed:
                raise ValueError("eta must be given for a linear prior; see SpanningArms.of(arms)")
            return 1.0
        value = float(positive("eta", eta, ())) / self.max_norm**2
        if value > 1 + 1e-9:
            raise ValueError(
                f"eta must be at most max_norm**2 = {self.max_norm**2:g}, since d arms of that "
                f"norm cannot span more, got {eta}"
            )
        return min(value, 1.0)

    def finite_arms(self, num_arms: int | None) -> int | None:
        """The number of arms for Lemma 1's finite-action form, checked; None for its other form.

        It is K if armed, and otherwise what the caller gave.
        """
        if num_arms is not None:
            num_arms = count("num_arms", num_arms, least=1)
        if not self.is_armed:
            return num_arms
        if num_arms not in (None, self.dim):
            raise ValueError(f"num_arms must be {self.dim} to match the prior, got {num_arms}")
        return self.dim


def check_two_levels(prior: GaussianHierarchy) -> None:
    """Raise a ValueError unless this is a hierarchy of a population and its tasks.

    The theorems are about no other.
    """
    if not isinstance(prior, GaussianHierarchy):
        raise ValueError(f"prior must be a GaussianHierarchy, got {prior!r}")
    if prior.num_levels != 2:
        raise ValueError(
            f"prior must have two levels, a population and its tasks, got {prior.num_levels}"
        )
    if is_singular(prior.task_cov):
        raise ValueError(
            "prior must have a positive definite task_cov: the theorems divide by its least "
            f"eigenvalue, got {eigenvalues(prior.task_cov)[0]:g}"
        )
