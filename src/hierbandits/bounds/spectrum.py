"""What the theorems see of a hierarchy: a few eigenvalues, in units where arms are short."""

from dataclasses import dataclass
from math import log1p, sqrt

import numpy as np

from hierbandits.algebra import eigenvalues
from hierbandits.checks import count, positive
from hierbandits.models.hierarchy import GaussianHierarchy


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """The eigenvalues and norms that the bounds are made of, for arms in the unit ball.

    Arms of norm at most b are unit arms x / b with the parameter b theta: the hyper-mean times b,
    the covariances times b^2, and eta / b^2.  Per-arm variances of an armed hierarchy are the
    eigenvalues of its diagonal covariances.
    """

    dim: int  # d, or K if armed
    is_armed: bool
    max_norm: float  # b
    noise_var: float  # sigma^2
    hyper: float  # lambda_1(Sigma_q)
    task: float  # lambda_1(Sigma_0)
    least_task: float  # lambda_d(Sigma_0)
    total: float  # lambda_1(Sigma_q + Sigma_0)
    total_trace: float  # tr(Sigma_q + Sigma_0)
    mean_norm: float  # ||mu_q|| in the norm of (Sigma_q + Sigma_0)^-1
    mean_gap: float  # what two arms' mean rewards differ by at most under mu_q

    @classmethod
    def of(cls, prior: GaussianHierarchy, max_norm: float = 1.0) -> "Widths":
        """Those of a two-level hierarchy whose arms have at most this norm."""
        prior = two_levels(prior)
        norm = float(positive("max_norm", max_norm, ()))
        if prior.is_armed and norm != 1:
            raise ValueError(
                f"max_norm must be 1 for an armed prior, whose arms are unit vectors, got {norm}"
            )
        scaled = prior.with_levels(norm * prior.hyper_mean, [norm**2 * c for c in prior.covs])
        mean, total = scaled.hyper_mean, scaled.hyper_cov + scaled.task_cov
        hyper, task, both = (eigenvalues(c) for c in (scaled.hyper_cov, scaled.task_cov, total))
        whole = np.diag(total) if scaled.is_armed else total
        gap = float(np.ptp(mean)) if scaled.is_armed else 2 * float(np.linalg.norm(mean))
        return cls(
            dim=scaled.dim,
            is_armed=scaled.is_armed,
            max_norm=norm,
            noise_var=scaled.noise_std**2,
            hyper=max(0.0, float(hyper[-1])),
            task=float(task[-1]),
            least_task=float(task[0]),
            total=float(both[-1]),
            total_trace=float(both.sum()),
            mean_norm=sqrt(mean @ np.linalg.solve(whole, mean)),
            mean_gap=gap,
        )

    @property
    def condition(self) -> float:
        """kappa: lambda_1(Sigma_0) / lambda_d(Sigma_0)."""
        return self.task / self.least_task

    @property
    def c(self) -> float:
        """1 + lambda_1(Sigma_0) / sigma^2.  [HBB, Theorem sequential regret]"""
        return 1 + self.task / self.noise_var

    def c1(self, num_interactions: int) -> float:
        """The variance of one task, per dimension.  [HBB, Theorem sequential regret]

        lambda_1(Sigma_0) / log(1 + lambda_1(Sigma_0) / sigma^2)
            * log(1 + lambda_1(Sigma_0) n / (sigma^2 d))
        """
        information = log1p(self.task * num_interactions / (self.noise_var * self.dim))
        return self.per_information(self.task) * information

    def per_information(self, largest: float) -> float:
        """The most variance per log(1 + variance / sigma^2), for variances up to `largest`.

        u / log(1 + u / sigma^2), whose limit at u = 0 is sigma^2.  [HBB, Proof of Theorem
        sequential regret]
        """
        signal = largest / self.noise_var
        return largest / log1p(signal) if signal > 0 else self.noise_var

    def spanning(self, eta: float | None) -> float:
        """Assumption 1's eta for unit arms; 1 by default if armed.  [HBB, Assumption 1]"""
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

    def num_arms(self, num_arms: int | None) -> int | None:
        """The number of arms for the finite-action form of Lemma 1, or None for the other."""
        if num_arms is not None:
            num_arms = count("num_arms", num_arms, least=1)
        if not self.is_armed:
            return num_arms
        if num_arms not in (None, self.dim):
            raise ValueError(f"num_arms must be {self.dim} to match the prior, got {num_arms}")
        return self.dim


def two_levels(prior: GaussianHierarchy) -> GaussianHierarchy:
    """The hierarchy, if it is one of a population and its tasks: the theorems have no other."""
    if not isinstance(prior, GaussianHierarchy):
        raise ValueError(f"prior must be a GaussianHierarchy, got {prior!r}")
    if prior.num_levels != 2:
        raise ValueError(
            f"prior must have two levels, a population and its tasks, got {prior.num_levels}"
        )
    return prior
