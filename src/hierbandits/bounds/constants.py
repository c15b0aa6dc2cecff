"""The constants of the theorems: as printed in the paper, and as repaired."""

from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import ClassVar, Protocol

from hierbandits.bounds.spectrum import Spectrum
from hierbandits.models.hierarchy import GaussianHierarchy


class Constants(Protocol):
    """A set of constants.  The constants c and c1 are the same in all sets: see `Spectrum`."""

    name: ClassVar[str]

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues and norms that the constants are made of."""

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

    c4 is false for an anisotropic Sigma_0: the proof of the ratio lemma uses
    ||Sigma_0^-1 M^-1 a|| <= 1, which does not hold there.
    """

    name: ClassVar[str] = "paper"
    spectrum: Spectrum

    @property
    def inflation(self) -> float:
        """kappa^2.  [HBB, Lemma covariance decomposition]"""
        return self.spectrum.condition**2

    @property
    def c_q(self) -> float:
        """kappa^2 lambda_1(Sigma_q).  [HBB, Theorem sequential regret]"""
        return self.inflation * self.spectrum.largest_hyper

    @property
    def tail_std(self) -> float:
        """sqrt(lambda_1(Sigma_0) + kappa^2 lambda_1(Sigma_q)).  [HBB, Lemma bayes regret]"""
        return sqrt(self.spectrum.largest_task + self.c_q)

    @property
    def concurrent_std(self) -> float:
        """sqrt(lambda_1(Sigma_q + Sigma_0)).  [HBB, Proof of Theorem concurrent regret]"""
        return sqrt(self.spectrum.largest_total)

    @property
    def concurrent_tail(self) -> bool:
        """False: the paper leaves it out.  [HBB, Proof of Theorem concurrent regret]"""
        return False

    def hyper_information(self, num_tasks: int, num_interactions: int) -> float:
        """log(1 + lambda_1(Sigma_q) m / lambda_d(Sigma_0)).  [HBB, Theorem sequential regret]"""
        return log1p(self.spectrum.largest_hyper * num_tasks / self.spectrum.least_task)

    def c4(self, num_concurrent: int, eta: float) -> float:
        """1 + q b / (sigma^2 (q + b / L)).  [HBB, Lemma sequential concurrent ratio]

        q = lambda_1(Sigma_q) and b = lambda_1(Sigma_0) + sigma^2 / eta.
        """
        q, noise_var = self.spectrum.largest_hyper, self.spectrum.noise_var
        b = self.spectrum.largest_task + noise_var / eta
        return 1 + q * b / (noise_var * (q + b / num_concurrent))

    def forced(self, num_interactions: int, num_arms: int | None) -> float:
        """2 sigma_max (||mu_q|| + sqrt(d)) d, in the norm of (Sigma_q + Sigma_0)^-1.

        [HBB, Proof of Theorem concurrent regret]
        """
        dim = self.spectrum.dim
        return 2 * self.concurrent_std * (self.spectrum.mean_norm + sqrt(dim)) * dim


@dataclass(frozen=True, slots=True)
class Repaired:
    """Constants that hold for every Sigma_q and Sigma_0.

    The docstring of each says why it holds.  In the sequential theorem none is larger than the
    paper's.  M = Sigma_0^-1 + G throughout.
    """

    name: ClassVar[str] = "repaired"
    spectrum: Spectrum

    @property
    def inflation(self) -> float:
        """(1 + kappa)^2 / (4 kappa), or 1 if arms are independent.

        It is the least constant that holds for all G.

        Let S = Sigma_0^(1/2).  Then Sigma_0^-1 M^-1 = S^-1 B S with 0 <= B <= I.  The norm of
        S^-1 B S is convex in B, so it is largest where B is a projection.  There S^-1 B S is an
        oblique projection.  Its norm is 1 / sin of an angle, which Wielandt's inequality bounds.
        If arms are independent, all these matrices are diagonal, and S^-1 B S = B.
        """
        kappa = self.spectrum.condition
        return 1.0 if self.spectrum.is_diagonal else (kappa + 2 + 1 / kappa) / 4

    @property
    def c_q(self) -> float:
        """The lesser of inflation * lambda_1(Sigma_q) and lambda_1(Sigma_q + Sigma_0).

        The second holds because this variance is a part of the marginal variance, which data never
        increase.
        """
        return min(self.inflation * self.spectrum.largest_hyper, self.spectrum.largest_total)

    @property
    def tail_std(self) -> float:
        """sqrt(lambda_1(Sigma_q + Sigma_0)), because data never increase the marginal variance."""
        return sqrt(self.spectrum.largest_total)

    @property
    def concurrent_std(self) -> float:
        """The same as `tail_std`."""
        return self.tail_std

    @property
    def concurrent_tail(self) -> bool:
        """True: Lemma 1 applies in full after the forced start."""
        return True

    def hyper_information(self, num_tasks: int, num_interactions: int) -> float:
        """log(1 + lambda_1(Sigma_q) m / (lambda_d(Sigma_0) + sigma^2 d / n)).

        A task adds at most (lambda_d(Sigma_0) I + G^-1)^-1 to the precision of mu.  Its
        eigenvalues are g / (1 + lambda_d(Sigma_0) g), where g are those of G.  This is concave in
        g, so their mean is largest where all g are equal; and tr(G) <= n / sigma^2.
        """
        spectrum = self.spectrum
        per_task = spectrum.least_task + spectrum.noise_var * spectrum.dim / num_interactions
        return log1p(spectrum.largest_hyper * num_tasks / per_task)

    def c4(self, num_concurrent: int, eta: float) -> float:
        """1 + the least of three bounds, each of them 0 for L = 1.

        D = Sigma_bar_{s,t}^-1 - Sigma_bar_t^-1 is what the round's L - 1 tasks before s add to the
        precision of mu, and q and b are as in the paper.

        1. lambda_1(D) lambda_1(Sigma_bar_t) <= inflation (L - 1) / (sigma^2 (1 / q + L / b)).
           This is the paper's proof with its wrong step mended, and s too counts as explored.
        2. lambda_1(D Sigma_bar_t) <= (L - 1) q / (lambda_d(Sigma_0) + (L - 1) q) / eta.  Let C be
           what these tasks had added before the round.  D <= C / eta, because a a' / sigma^2 <=
           G / eta for every arm a; and C <= (L - 1) Sigma_0^-1.
        3. tr(D Sigma_bar_t) <= (L - 1) / (eta + sigma^2 / lambda_1(Sigma_q + Sigma_0)), because it
           is a sum of variances of unit arms in explored tasks, each divided by sigma^2.
        """
        spectrum, others = self.spectrum, num_concurrent - 1
        q, noise_var = spectrum.largest_hyper, spectrum.noise_var
        b = spectrum.largest_task + noise_var / eta
        mended = self.inflation * others * q
        mended /= noise_var * (1 + num_concurrent * q / b)
        relative = others * q / (spectrum.least_task + others * q) / eta
        trace = others / (eta + noise_var / spectrum.largest_total)
        return 1 + min(mended, relative, trace)

    def forced(self, num_interactions: int, num_arms: int | None) -> float:
        """min(d, n) (gap + excess): the d arms are fixed beforehand, so E[a @ theta] = a @ mu_q.

        gap bounds what two arms' mean rewards differ by under mu_q: it is 2 ||mu_q||, or
        max mu_q - min mu_q if armed.  excess bounds E[max_a a @ (theta - mu_q)]: it is
        sqrt(tr(Sigma_q + Sigma_0)) or, if that is less, sigma_max sqrt(2 log K) for K arms.  The
        latter keeps the K-armed theorem at O(K sqrt(log K) m).
        """
        excess = sqrt(self.spectrum.total_trace)
        if num_arms is not None:
            excess = min(excess, self.tail_std * sqrt(2 * log(num_arms)))
        return min(self.spectrum.dim, num_interactions) * (self.spectrum.mean_gap + excess)


CONSTANTS: dict[str, type[Paper] | type[Repaired]] = {Repaired.name: Repaired, Paper.name: Paper}
"""The sets of constants by name: those that hold, and those that the paper prints."""


def constants_of(prior: GaussianHierarchy, constants: str, max_norm: float = 1.0) -> Constants:
    """The named constants of a hierarchy."""
    if constants not in CONSTANTS:
        names = " or ".join(repr(name) for name in CONSTANTS)
        raise ValueError(f"constants must be {names}, got {constants!r}")
    return CONSTANTS[constants](Spectrum.of(prior, max_norm))
