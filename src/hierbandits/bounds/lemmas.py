"""The lemmas behind the theorems: regret from variances, and bounds on the variances."""

from math import log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.algebra import eigenvalues
from hierbandits.bounds.constants import Constants, constants_of
from hierbandits.bounds.spectrum import Spectrum
from hierbandits.checks import count, positive, real_array
from hierbandits.models.hierarchy import GaussianHierarchy


def bayes_regret(
    prior: GaussianHierarchy,
    variance_sum: float,
    num_tasks: int,
    num_interactions: int,
    *,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> float:
    """The bound on the Bayes regret of posterior sampling, from the sum V of played variances.

        sqrt(2 d m n V log(1 / delta)) + sqrt(2 / pi) sigma_max d^(3/2) m n delta
        sqrt(2 m n V log(1 / delta)) + sqrt(2 / pi) sigma_max K m n delta      with K arms

    [HBB, Lemma bayes regret].  `variance_sum` is V(m, n), the sum of the posterior variances of
    the arms that are played.  The second form is used if `num_arms` is given or if the prior is
    armed.  delta is 1 / (m n) by default.
    """
    chosen = constants_of(prior, constants, max_norm)
    num_tasks = count("num_tasks", num_tasks, least=1)
    num_interactions = count("num_interactions", num_interactions, least=1)
    variance = float(real_array("variance_sum", variance_sum, ()))
    if variance < 0:
        raise ValueError(f"variance_sum must not be negative, got {variance}")
    num_arms = chosen.spectrum.finite_arms(num_arms)
    events = num_tasks * num_interactions
    failure = failure_probability(delta, events)
    root = regret_root(chosen.spectrum, events, failure, num_arms, variance)
    return root + regret_tail(chosen.spectrum, chosen.tail_std, events, failure, num_arms)


def decomposition_bound(
    prior: GaussianHierarchy,
    hyper_posterior_cov: ArrayLike,
    norm: float = 1.0,
    *,
    constants: str = "repaired",
) -> float:
    """The bound on the variance of x @ theta that comes from not knowing the hyper-parameter.

        x' K Sigma_bar K' x <= inflation * lambda_1(Sigma_bar) ||x||^2,  K = M^-1 Sigma_0^-1

    [HBB, Lemma covariance decomposition].  `norm` is ||x||.  `hyper_posterior_cov` is Sigma_bar,
    its diagonal, or its largest eigenvalue.  inflation is kappa^2 in the paper; see
    `Repaired.inflation` for ours.
    """
    chosen = constants_of(prior, constants)
    shape = (prior.dim,) * np.ndim(hyper_posterior_cov)
    values = eigenvalues(
        np.atleast_1d(real_array("hyper_posterior_cov", hyper_posterior_cov, shape))
    )
    if values[0] < -1e-9 * abs(values[-1]):
        raise ValueError(
            "hyper_posterior_cov must be positive semi-definite, "
            f"got an eigenvalue of {values[0]:g}"
        )
    length = float(real_array("norm", norm, ()))
    if length < 0:
        raise ValueError(f"norm must not be negative, got {length}")
    return chosen.inflation * float(values[-1]) * length**2


def ratio_bound(
    prior: GaussianHierarchy,
    num_concurrent: int,
    *,
    eta: float | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
) -> float:
    """c4: the bound on how much more uncertain mu is without the round's other rewards.

        lambda_1(Sigma_bar_{s,t}^-1 Sigma_bar_t) <= c4

    [HBB, Lemma sequential concurrent ratio].  It needs the tasks of a round to be distinct and
    explored: lambda_d(G) >= eta / sigma^2.  The paper's c4 fails for anisotropic task covariances.
    """
    chosen = constants_of(prior, constants, max_norm)
    num_concurrent = count("num_concurrent", num_concurrent, least=1)
    return chosen.c4(num_concurrent, chosen.spectrum.unit_eta(eta))


def variance_bound(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    *,
    num_concurrent: int | None = None,
    eta: float | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
) -> float:
    """The bound on V(m, n), the sum of the posterior variances of the arms that are played.

        V(m, n) <= d (c1 m + c2)

    [HBB, Proof of Theorem sequential regret].  It holds for every history, not only on average.
    With `num_concurrent`, V does not count the forced start.
    """
    chosen = constants_of(prior, constants, max_norm)
    num_tasks = count("num_tasks", num_tasks, least=1)
    num_interactions = count("num_interactions", num_interactions, least=1)
    c4 = 1.0
    if num_concurrent is not None:
        num_concurrent = checked_concurrency(num_concurrent, num_tasks)
        c4 = chosen.c4(num_concurrent, chosen.spectrum.unit_eta(eta))
    c2 = c4 * hyper_variance(chosen, num_tasks, num_interactions)
    spectrum = chosen.spectrum
    return spectrum.dim * (spectrum.c1(num_interactions) * num_tasks + c2)


def hyper_variance(chosen: Constants, num_tasks: int, num_interactions: int) -> float:
    """c2 of the sequential theorem: the variance of learning the hyper-parameter, per dimension.

    c_q c / log(1 + c_q / sigma^2) * the information about mu.  [HBB, Theorem sequential regret]
    """
    per_information = chosen.spectrum.variance_per_information(chosen.c_q) * chosen.spectrum.c
    return per_information * chosen.hyper_information(num_tasks, num_interactions)


def regret_root(
    spectrum: Spectrum, events: int, delta: float, num_arms: int | None, variance: float
) -> float:
    """Lemma 1's first term: the regret while intervals hold.  [HBB, Lemma bayes regret]"""
    radius = spectrum.dim if num_arms is None else 1
    return sqrt(2 * radius * events * variance * log(1 / delta))


def regret_tail(
    spectrum: Spectrum, std: float, events: int, delta: float, num_arms: int | None
) -> float:
    """Lemma 1's second term: the regret where an interval fails.  [HBB, Lemma bayes regret]"""
    size = spectrum.dim**1.5 if num_arms is None else num_arms
    return sqrt(2 / pi) * std * size * events * delta


def failure_probability(delta: float | None, events: int) -> float:
    """delta, the probability that an interval of Lemma 1 fails, checked; 1 / (m n) by default.

    delta = 1 is allowed: the first term is then zero, and the second alone is a bound.
    """
    if delta is None:
        return 1 / events
    value = float(positive("delta", delta, ()))
    if value > 1:
        raise ValueError(f"delta must be in (0, 1], got {delta}")
    return value


def checked_concurrency(num_concurrent: int, num_tasks: int) -> int:
    """L, the tasks of a round, checked: they are distinct, so at most m."""
    num_concurrent = count("num_concurrent", num_concurrent, least=1)
    if num_concurrent > num_tasks:
        raise ValueError(
            f"num_concurrent must be at most num_tasks = {num_tasks}, got {num_concurrent}"
        )
    return num_concurrent
