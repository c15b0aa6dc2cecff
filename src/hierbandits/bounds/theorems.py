"""The regret theorems: HierTS in sequence and concurrently, the oracle, and independent tasks."""

from hierbandits.bounds.constants import Constants, constants_of
from hierbandits.bounds.lemmas import (
    concurrency,
    confidence,
    hyper_variance,
    regret_root,
    regret_tail,
)
from hierbandits.bounds.regret_bound import Bound
from hierbandits.bounds.spectrum import two_levels
from hierbandits.checks import count
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.variants import known_mean, marginal

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
    chosen = constants_of(prior, constants, max_norm)
    return _bound(chosen, num_tasks, num_interactions, None, None, num_arms, delta)


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
    chosen = constants_of(prior, constants, max_norm)
    return _bound(chosen, num_tasks, num_interactions, num_concurrent, eta, num_arms, delta)


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
    chosen = constants_of(known_mean(two_levels(prior)), constants, max_norm)
    return _bound(chosen, num_tasks, num_interactions, None, None, num_arms, delta)


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
    chosen = constants_of(marginal(two_levels(prior)), constants, max_norm)
    return _bound(chosen, num_tasks, num_interactions, None, None, num_arms, delta)


def tasks_to_win(
    prior: GaussianHierarchy,
    num_interactions: int,
    *,
    num_concurrent: int | None = None,
    eta: float | None = None,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
) -> int | None:
    """The least m at which HierTS has a lower bound than TS in each task alone.

    That of `sequential`, or of `concurrent` with `num_concurrent`, against `independent`.  From
    there on it stays lower, because c2 grows with log(m).  None if there is no such m below
    10^12, as when the hyper-parameter is known.  [HBB, Section Tightness]
    """
    hier = constants_of(prior, constants, max_norm)
    alone = constants_of(marginal(prior), constants, max_norm)

    def wins(num_tasks: int) -> bool:
        bound = _bound(hier, num_tasks, num_interactions, num_concurrent, eta, num_arms, delta=None)
        other = _bound(alone, num_tasks, num_interactions, None, None, num_arms, delta=None)
        return bound.total < other.total

    least = 1 if num_concurrent is None else count("num_concurrent", num_concurrent, least=1)
    low, high = least - 1, least  # HierTS loses at low, if that is a number of tasks at all
    while not wins(high):
        if high > MANY_TASKS:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if wins(middle) else (middle, high)
    return high


def _bound(
    chosen: Constants,
    num_tasks: int,
    num_interactions: int,
    num_concurrent: int | None,
    eta: float | None,
    num_arms: int | None,
    delta: float | None,
) -> Bound:
    """All four theorems; the sequential ones without `num_concurrent`."""
    widths = chosen.widths
    num_tasks = count("num_tasks", num_tasks, least=1)
    num_interactions = count("num_interactions", num_interactions, least=1)
    num_arms = widths.num_arms(num_arms)
    events = num_tasks * num_interactions
    delta = confidence(delta, events)
    std, c4, forced, has_tail, spanning = chosen.tail_std, 1.0, 0.0, True, None
    if num_concurrent is not None:
        std, has_tail = chosen.concurrent_std, chosen.concurrent_tail
        spanning = widths.spanning(eta)
        c4 = chosen.c4(concurrency(num_concurrent, num_tasks), spanning)
        forced = num_tasks * chosen.forced(num_interactions, num_arms)
    tail = regret_tail(widths, std, events, delta, num_arms) if has_tail else 0.0
    c1 = widths.c1(num_interactions)
    in_sequence = hyper_variance(chosen, num_tasks, num_interactions)  # c2 with c4 = 1

    def root(per_dimension: float) -> float:
        return regret_root(widths, events, delta, num_arms, widths.dim * per_dimension)

    known, learned, whole = (c1 * num_tasks + c2 for c2 in (0.0, in_sequence, c4 * in_sequence))
    return Bound(
        constants=chosen.name,
        total=root(whole) + forced + tail,
        task_regret=root(known),
        hyper_regret=root(learned) - root(known),
        concurrency_regret=root(whole) - root(learned),
        forced_regret=forced,
        tail_regret=tail,
        hyper_alone=root(c4 * in_sequence),
        variance=widths.dim * whole,
        c=widths.c,
        c1=c1,
        c2=c4 * in_sequence,
        c3=forced + tail,
        c4=c4,
        c_q=chosen.c_q,
        sigma_max=std,
        eta=spanning,
        delta=delta,
    )
