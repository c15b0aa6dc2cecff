"""The constants of the theorems, as printed and as repaired, side by side."""

from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import ClassVar, Protocol

from hierbandits.bounds.spectrum import Widths
from hierbandits.models.hierarchy import GaussianHierarchy


class Constants(Protocol):
    """What a set of constants has to say; c and c1 are in `widths`, the same for all."""

    name: ClassVar[str]

    @property
    def widths(self) -> Widths:
        """The eigenvalues they are made of."""

    @property
    def inflation(self) -> float:
        """The bound on ||Sigma_0^-1 M^-1 x||^2 over unit x, where M = Sigma_0^-1 + G."""

    @property
    def c_q(self) -> float:
        """The bound on a unit arm's variance from not knowing the hyper-parameter."""

    @property
    def tail_std(self) -> float:
        """sigma_max of Lemma 1."""

    @property
    def concurrent_std(self) -> float:
        """sigma_max of the concurrent theorem."""

    @property
    def concurrent_tail(self) -> bool:
        """Whether the concurrent theorem includes Lemma 1's tail."""

    def hyper_information(self, num_tasks: int, num_interactions: int) -> float:
        """The bound on log det(Sigma_q Sigma_bar^-1) / d."""

    def c4(self, num_concurrent: int, eta: float) -> float:
        """The bound on lambda_1(Sigma_bar_{s,t}^-1 Sigma_bar_t)."""

    def forced(self, num_interactions: int, num_arms: int | None) -> float:
        """The bound on a task's regret in the forced start."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The constants as printed.

    For an anisotropic Sigma_0 its c4 fails: the ratio lemma takes ||Sigma_0^-1 M^-1 a|| <= 1.
    """

    name: ClassVar[str] = "paper"
    widths: Widths

    @property
    def inflation(self) -> float:
        """kappa^2.  [HBB, Lemma covariance decomposition]"""
        return self.widths.condition**2

    @property
    def c_q(self) -> float:
        """kappa^2 lambda_1(Sigma_q).  [HBB, Theorem sequential regret]"""
        return self.inflation * self.widths.hyper

    @property
    def tail_std(self) -> float:
        """sqrt(lambda_1(Sigma_0) + kappa^2 lambda_1(Sigma_q)).  [HBB, Lemma bayes regret]"""
        return sqrt(self.widths.task + self.c_q)

    @property
    def concurrent_std(self) -> float:
        """sqrt(lambda_1(Sigma_q + Sigma_0)).  [HBB, Proof of Theorem concurrent regret]"""
        return sqrt(self.widths.total)

    @property
    def concurrent_tail(self) -> bool:
        """Left out.  [HBB, Proof of Theorem concurrent regret]"""
        return False

    def hyper_information(self, num_tasks: int, num_interactions: int) -> float:
        """log(1 + lambda_1(Sigma_q) m / lambda_d(Sigma_0)).  [HBB, Theorem sequential regret]"""
        return log1p(self.widths.hyper * num_tasks / self.widths.least_task)

    def c4(self, num_concurrent: int, eta: float) -> float:
        """1 + q b / (sigma^2 (q + b / L)).  [HBB, Lemma sequential concurrent ratio]

        q = lambda_1(Sigma_q) and b = lambda_1(Sigma_0) + sigma^2 / eta.
        """
        w = self.widths
        b = w.task + w.noise_var / eta
        return 1 + w.hyper * b / (w.noise_var * (w.hyper + b / num_concurrent))

    def forced(self, num_interactions: int, num_arms: int | None) -> float:
        """2 sigma_max (||mu_q|| + sqrt(d)) d, in the norm of (Sigma_q + Sigma_0)^-1.

        [HBB, Proof of Theorem concurrent regret]
        """
        w = self.widths
        return 2 * self.concurrent_std * (w.mean_norm + sqrt(w.dim)) * w.dim


@dataclass(frozen=True, slots=True)
class Repaired:
    """Constants that hold for every Sigma_q and Sigma_0; each method says why.

    In the sequential theorem none is larger than the paper's.  M = Sigma_0^-1 + G.
    """

    name: ClassVar[str] = "repaired"
    widths: Widths

    @property
    def inflation(self) -> float:
        """(1 + kappa)^2 / (4 kappa), or 1 if armed: no smaller constant holds for all G.

        With S = Sigma_0^(1/2), Sigma_0^-1 M^-1 = S^-1 B S for some 0 <= B <= I.  Its norm is
        convex in B, so largest at a projection; S^-1 B S is then an oblique projection, of norm
        1 / sin of an angle that Wielandt's inequality bounds.  If armed all these are diagonal.
        """
        kappa = self.widths.condition
        return 1.0 if self.widths.is_armed else (kappa + 2 + 1 / kappa) / 4

    @property
    def c_q(self) -> float:
        """The lesser of inflation * lambda_1(Sigma_q) and lambda_1(Sigma_q + Sigma_0).

        The variance in question is a part of the marginal one, which never grows.
        """
        return min(self.inflation * self.widths.hyper, self.widths.total)

    @property
    def tail_std(self) -> float:
        """sqrt(lambda_1(Sigma_q + Sigma_0)): the marginal variance never grows."""
        return sqrt(self.widths.total)

    @property
    def concurrent_std(self) -> float:
        """The same."""
        return self.tail_std

    @property
    def concurrent_tail(self) -> bool:
        """Included: after the forced start Lemma 1 applies in full."""
        return True

    def hyper_information(self, num_tasks: int, num_interactions: int) -> float:
        """log(1 + lambda_1(Sigma_q) m / (lambda_d(Sigma_0) + sigma^2 d / n)).

        A task adds at most (lambda_d(Sigma_0) I + G^-1)^-1 to the precision of mu, and
        tr(G) <= n / sigma^2; the mean of g / (1 + lambda_d g) over the eigenvalues is concave.
        """
        w = self.widths
        per_task = w.least_task + w.noise_var * w.dim / num_interactions
        return log1p(w.hyper * num_tasks / per_task)

    def c4(self, num_concurrent: int, eta: float) -> float:
        """1 + the least of three bounds, each of them 0 for L = 1.

        With D = Sigma_bar_{s,t}^-1 - Sigma_bar_t^-1, what the L - 1 tasks before s add, and q, b
        as in the paper:
            lambda_1(D) lambda_1(Sigma_bar_t) <= inflation (L - 1) / (sigma^2 (1 / q + L / b)):
                the paper's proof with its step mended, and s itself counted as explored;
            D <= C / eta <= (L - 1) Sigma_0^-1 / eta, where C is what those tasks had added:
                a a' / sigma^2 <= G / eta;
            tr(D Sigma_bar_t) <= (L - 1) / (eta + sigma^2 / lambda_1(Sigma_q + Sigma_0)):
                a sum of variances of unit arms in explored tasks, each over sigma^2.
        """
        w, others = self.widths, num_concurrent - 1
        b = w.task + w.noise_var / eta
        mended = self.inflation * others * w.hyper
        mended /= w.noise_var * (1 + num_concurrent * w.hyper / b)
        relative = others * w.hyper / (w.least_task + others * w.hyper) / eta
        trace = others / (eta + w.noise_var / w.total)
        return 1 + min(mended, relative, trace)

    def forced(self, num_interactions: int, num_arms: int | None) -> float:
        """min(d, n) (gap + width): the d arms are fixed beforehand, so E[a @ theta] = a @ mu_q.

        gap is 2 ||mu_q||, or max mu_q - min mu_q if armed, and width bounds
        E[max_a a @ (theta - mu_q)] by sqrt(tr(Sigma_q + Sigma_0)) and, for K arms, by
        sigma_max sqrt(2 log K), which keeps the K-armed theorem at O(K sqrt(log K) m).
        """
        w = self.widths
        width = sqrt(w.total_trace)
        if num_arms is not None:
            width = min(width, self.tail_std * sqrt(2 * log(num_arms)))
        return min(w.dim, num_interactions) * (w.mean_gap + width)


CONSTANTS: dict[str, type[Paper] | type[Repaired]] = {Repaired.name: Repaired, Paper.name: Paper}


def constants_of(prior: GaussianHierarchy, constants: str, max_norm: float = 1.0) -> Constants:
    """The named constants of a hierarchy."""
    if constants not in CONSTANTS:
        names = " or ".join(repr(name) for name in CONSTANTS)
        raise ValueError(f"constants must be {names}, got {constants!r}")
    return CONSTANTS[constants](Widths.of(prior, max_norm))
