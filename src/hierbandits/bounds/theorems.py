"""The regret theorems: HierTS in sequence and concurrently, OracleTS, and TS in each task alone."""

from hierbandits.bounds.constants import Constants, constants_of
from hierbandits.bounds.lemmas import (
    checked_concurrency,
    failure_probability,
    hyper_variance,
    regret_root,
    regret_tail,
)
from hierbandits.bounds.regret_bound import RegretBound
from hierbandits.bounds.spectrum import check_two_levels
from hierbandits.checks import count
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.variants import known_mean, marginal

MANY_TASKS = 10**12
"""Beyond this number `tasks_to_win` looks no further."""


def sequential(
    prior: GaussianHierarchy,
    num_tasks: int,
    num_interactions: int,
    *,
    num_arms: int | None = None,
    constants: str = "repaired",
    max_norm: float = 1.0,
    delta: float | None = None,
) -> RegretBound:
    """The bound on the Bayes regret of HierTS when one task acts in a round.

        d sqrt(2 m n (c1 m + c2) log(m n)) + c3,  c3 = sqrt(2 / pi) sigma_max d^(3/2)
        sqrt(2 K m n (c1 m + c2) log(m n)) + c3,  c3 = sqrt(2 / pi) sigma_max K     if armed

    [HBB, Theorem sequential regret], [HBB, Theorem sequential mab regret].  With `num_arms` a
    linear bandit has the finite-action form too.  Arms have norm at most `max_norm`.  delta is
    1 / (m n) by default.
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
) -> RegretBound:
    """The bound on the Bayes regret of HierTS-forced when up to L distinct tasks act in a round.

        d sqrt(2 m n (c1 m + c2) log(m n)) + c3

    This is `sequential` with two changes: c2 is multiplied by c4, because tasks act before the
    round's rewards are known, and c3 includes the forced start.  [HBB, Theorem concurrent regret],
    [HBB, Theorem concurrent mab regret].  `eta` is `SpanningArms.of(arms).eta`, of arms that are
    not scaled; it is 1 by default if armed.
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
) -> RegretBound:
    """The bound on the Bayes regret of OracleTS, which knows the hyper-parameter.

    It is `sequential` with c2 = 0.
    It also holds when tasks act concurrently, since no task learns from another.
    [HBB, Section Tightness]
    """
    check_two_levels(prior)
    chosen = constants_of(known_mean(prior), constants, max_norm)
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
) -> RegretBound:
    """The bound on the Bayes regret of TS in each task alone.

    It is `sequential` for the marginal prior: c2 = 0, and c1 has lambda_1(Sigma_q + Sigma_0) in
    place of lambda_1(Sigma_0).  It also holds when tasks act concurrently.
    [HBB, Section Tightness]
    """
    check_two_levels(prior)
    chosen = constants_of(marginal(prior), constants, max_norm)
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
    """The least number of tasks m with which HierTS has a lower bound than TS in each task alone.

    The bound of HierTS is `sequential`, or `concurrent` if `num_concurrent` is given; that of TS
    is `independent`.  With more tasks it stays lower, because c2 grows as log(m).  The result is
    None if there is no such m below 10^12, for example when the hyper-parameter is known.
    [HBB, Section Tightness]
    """
    hier = constants_of(prior, constants, max_norm)
    alone = constants_of(marginal(prior), constants, max_norm)

    def wins(num_tasks: int) -> bool:
        bound = _bound(hier, num_tasks, num_interactions, num_concurrent, eta, num_arms, delta=None)
        other = _bound(alone, num_tasks, num_interactions, None, None, num_arms, delta=None)
        return bound.total < other.total

    least = 1 if num_concurrent is None else count("num_concurrent", num_concurrent, least=1)
    low, high = least - 1, least  # HierTS loses at low, and later wins at high
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
) -> RegretBound:
    """The concurrent theorem, or the sequential one if `num_concurrent` is None."""
    spectrum = chosen.spectrum
    num_tasks = count("num_tasks", num_tasks, least=1)
    num_interactions = count("num_interactions", num_interactions, least=1)
    num_arms = spectrum.finite_arms(num_arms)
    events = num_tasks * num_interactions
    delta = failure_probability(delta, events)
    std, c4, forced, has_tail, unit_eta = chosen.tail_std, 1.0, 0.0, True, None
    if num_concurrent is not None:
        std, has_tail = chosen.concurrent_std, chosen.concurrent_tail
        unit_eta = spectrum.unit_eta(eta)
        c4 = chosen.c4(checked_concurrency(num_concurrent, num_tasks), unit_eta)
        forced = num_tasks * chosen.forced(num_interactions, num_arms)
    tail = regret_tail(spectrum, std, events, delta, num_arms) if has_tail else 0.0
    c1 = spectrum.c1(num_interactions)
    sequential_c2 = hyper_variance(chosen, num_tasks, num_interactions)
    c2 = c4 * sequential_c2

    def root(per_dimension: float) -> float:
        return regret_root(spectrum, events, delta, num_arms, spectrum.dim * per_dimension)

    known, learned, whole = (c1 * num_tasks + part for part in (0.0, sequential_c2, c2))
    return RegretBound(
        constants=chosen.name,
        total=root(whole) + forced + tail,
        task_regret=root(known),
        hyper_regret=root(learned) - root(known),
        concurrency_regret=root(whole) - root(learned),
        forced_regret=forced,
        tail_regret=tail,
        hyper_alone=root(c2),
        variance=spectrum.dim * whole,
        c=spectrum.c,
        c1=c1,
        c2=c2,
        c3=forced + tail,
        c4=c4,
        c_q=chosen.c_q,
        sigma_max=std,
        eta=unit_eta,
        delta=delta,
    )
