"""The regret theorems: HierTS in sequence and concurrently, the oracle, and independent tasks."""

from hierbandits.arrays import count
from hierbandits.bounds.bound import Bound
from hierbandits.bounds.constants import constants_of
from hierbandits.bounds.lemmas import (
    concurrency,
    confidence,
    hyper_variance,
    regret_root,
    regret_tail,
)
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.policies import known_mean, marginal

MANY_TASKS = 10**12
"""Where `tasks_to_win` stops looking."""


def sequential(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    *,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> Bound:
    """The Bayes regret of HierTS when one task acts per round.

        d sqrt(2 m n (c1 m + c2) log(m n)) + c3,  c3 = sqrt(2 / pi) sigma_max d^(3/2)
        sqrt(2 K m n (c1 m + c2) log(m n)) + c3,  c3 = sqrt(2 / pi) sigma_max K     if armed

    [HBB, Theorem sequential regret], [HBB, Theorem sequential mab regret].  `num_arms` gives the
    finite-action form in a linear bandit too; arms have norm at most `max_norm`; delta is
    1 / (m n) unless given.
    """
    return _bound(
        prior, num_tasks, num_interactions, None, None, num_arms, constants, max_norm, delta
    )


def concurrent(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    num_concurrent: int,
    *,
    eta: float | None = None,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> Bound:
    """The Bayes regret of HierTS-forced when up to L distinct tasks act per round.

        d sqrt(2 m n (c1 m + c2) log(m n)) + c3

    as `sequential`, with c2 times c4 for acting before the round's rewards are in, and in c3 the
    forced start.  [HBB, Theorem concurrent regret], [HBB, Theorem concurrent mab regret].  `eta`
    is that of the arms as they are, `SpanningArms.of(arms).eta`; 1 by default if armed.
    """
    return _bound(
        prior, num_tasks, num_interactions, num_concurrent, eta, num_arms, constants, max_norm, delta
    )


def oracle(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    *,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> Bound:
    """The Bayes regret of OracleTS, told the hyper-parameter: `sequential` with c2 = 0.

    It holds concurrently as well, since no task learns from another.  [HBB, Section Tightness]
    """
    _bound_needs(prior)
    return sequential(
        known_mean(prior),
        num_tasks,
        num_interactions,
        num_arms=num_arms,
        constants=constants,
        max_norm=max_norm,
        delta=delta,
    )


def independent(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    *,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> Bound:
    """The Bayes regret of TS in each task alone: `sequential`, c2 = 0 and the marginal prior in c1.

    c1 has lambda_1(Sigma_q + Sigma_0) in place of lambda_1(Sigma_0).  It holds concurrently as
    well.  [HBB, Section Tightness]
    """
    _bound_needs(prior)
    return sequential(
        marginal(prior),
        num_tasks,
        num_interactions,
        num_arms=num_arms,
        constants=constants,
        max_norm=max_norm,
        delta=delta,
    )
