"""The theorems: how they scale, their baselines, measured runs and errors."""

from math import e, log, pi, sqrt

import numpy as np
import pytest
from support.bound_priors import BOTH, by_hand, check, isotropic, linear, random_prior

from hierbandits import POLICIES, GaussianHierarchy, SpanningArms, bounds


def test_repaired_is_never_looser_in_sequence():
    rng = np.random.default_rng(11)
    for kind in ("skewed", "isotropic", "armed"):
        for _ in range(20):
            prior = random_prior(rng, kind, int(rng.integers(1, 5)))
            m, n = int(rng.integers(1, 50)), int(rng.integers(1, 50))
            mended = bounds.sequential(prior, m, n)
            printed = bounds.sequential(prior, m, n, constants="paper")
            for name in ("total", "c_q", "c2", "c3", "sigma_max"):
                assert getattr(mended, name) <= getattr(printed, name) * (1 + 1e-12)
            assert mended.c1 == printed.c1


@BOTH
def test_scaling_with_the_units_of_the_rewards(constants):
    rng = np.random.default_rng(12)
    prior = random_prior(rng, "skewed")
    k = 7.0
    scaled = linear(
        k**2 * prior.hyper_cov, k**2 * prior.task_cov, k * prior.noise_std, k * prior.hyper_mean
    )
    one = bounds.concurrent(prior, 5, 30, 3, eta=0.4, constants=constants)
    other = bounds.concurrent(scaled, 5, 30, 3, eta=0.4, constants=constants)
    for name in ("total", "task_regret", "hyper_regret", "forced_regret", "sigma_max"):
        assert getattr(other, name) == pytest.approx(k * getattr(one, name))
    assert other.variance == pytest.approx(k**2 * one.variance)
    assert other.c4 == pytest.approx(one.c4)


@BOTH
def test_scaling_with_the_numbers_of_tasks_and_interactions(constants):
    prior = isotropic(0.3, 1.0)
    few, many = (bounds.sequential(prior, m, 100, constants=constants) for m in (10, 1000))
    assert few.c1 == many.c1
    ratio = many.task_regret / few.task_regret  # linear in m, but for log(m n)
    assert ratio == pytest.approx(100 * sqrt(log(1e5) / log(1e3)))
    ratio = many.hyper_alone / few.hyper_alone  # as the root of m, but for logarithms
    assert ratio == pytest.approx(10 * sqrt(many.c2 / few.c2 * log(1e5) / log(1e3)))
    assert 1 < many.c2 / few.c2 < 3
    assert many.hyper_regret / many.total < 0.1 * few.hyper_regret / few.total
    short, long = (bounds.sequential(prior, 10, n, constants=constants) for n in (100, 10_000))
    ratio = long.task_regret / short.task_regret
    assert ratio == pytest.approx(10 * sqrt(long.c1 / short.c1 * log(1e5) / log(1e3)))
    assert long.c1 / short.c1 == pytest.approx(log(1 + 0.18 * 1e4) / log(1 + 0.18 * 1e2))


@BOTH
def test_scaling_with_the_widths(constants):
    """Doubling a width doubles the root of its constant, but for logarithms."""
    for task_std in (1e-3, 10.0):  # variances far below sigma^2 / n, or far above sigma^2
        one, two = (
            bounds.sequential(isotropic(std, 1.0), 10, 100, constants=constants)
            for std in (task_std, 2 * task_std)
        )
        assert sqrt(two.c1 / one.c1) == pytest.approx(2, rel=0.1)
    for hyper_std in (1e-4, 30.0):
        one, two = (
            bounds.sequential(isotropic(0.3, std), 10, 100, constants=constants)
            for std in (hyper_std, 2 * hyper_std)
        )
        assert sqrt(two.c2 / one.c2) == pytest.approx(2, rel=0.1)
        assert one.c1 == two.c1
    values = [
        bounds.sequential(isotropic(a, b), 10, 100, constants=constants).total
        for a, b in [(0.1, 0.5), (0.2, 0.5), (0.2, 1.0), (0.4, 2.0)]
    ]
    assert values == sorted(values)
    assert len(set(values)) == 4


@BOTH
def test_scaling_with_concurrency_is_sublinear_and_bounded(constants):
    for prior, eta in ((isotropic(0.1, 1.0), 0.3), (by_hand(), 0.5)):
        c4 = [bounds.ratio_bound(prior, L, eta=eta, constants=constants) for L in (1, 2, 5, 50)]
        assert c4 == sorted(c4)
        assert c4[-1] / c4[1] < 50 / 2
        limit = bounds.ratio_bound(prior, 10**9, eta=eta, constants=constants)
        task = np.linalg.eigvalsh(prior.task_cov)[-1]
        printed = 1 + task / prior.noise_std**2 + 1 / eta
        expected = printed if constants == "paper" else 1 + 1 / eta
        assert limit == pytest.approx(expected, rel=1e-6)
    widest = isotropic(2.0, 1.0)  # the printed limit is 21.0, the repaired one 1 + 1 / eta
    assert bounds.ratio_bound(widest, 10**9, eta=0.25) == pytest.approx(5.0)


def test_regret_is_flat_in_sigma_0_only_if_repaired():
    """As tasks become one, the printed c2 diverges; the repaired one is that of one task."""
    printed, mended = [
        [bounds.sequential(isotropic(s, 1.0), 10, 100, constants=c).c2 for s in (1e-6, 1e-12)]
        for c in ("paper", "repaired")
    ]
    assert printed[1] > 1.5 * printed[0]
    assert mended[1] == pytest.approx(mended[0])
    assert mended[1] == pytest.approx(1 / log(5) * log(1 + 10 * 100 / (0.25 * 2)))


@BOTH
def test_oracle_and_independent_by_hand(constants):
    prior = by_hand()
    known = bounds.oracle(prior, 4, 8, constants=constants)
    tail = sqrt(2 / pi) * 2 * sqrt(2)
    check(known, c1=1, c2=0, c_q=0, hyper_regret=0, c3=tail * sqrt(0.5))
    check(known, total=2 * sqrt(2 * 32 * 4 * log(32)) + tail * sqrt(0.5))
    alone = bounds.independent(prior, 4, 8, constants=constants)
    c1 = 2.5 / log(11) * log(41)
    check(alone, c1=c1, c2=0, c3=tail * sqrt(2.5))
    check(alone, total=2 * sqrt(2 * 32 * 4 * c1 * log(32)) + tail * sqrt(2.5))
    hier = bounds.sequential(prior, 4, 8, constants=constants)
    assert known.total < hier.total
    assert known.task_regret == pytest.approx(hier.task_regret)
    assert bounds.oracle(prior, 4, 8, constants=constants, delta=0.3).delta == 0.3


@BOTH
@pytest.mark.parametrize("kind", ["skewed", "isotropic", "armed", "concurrent"])
def test_tasks_to_win_is_where_the_bounds_cross(constants, kind):
    rng = np.random.default_rng(13)
    options = {"constants": constants}
    for _ in range(5):
        prior = random_prior(rng, "isotropic" if kind == "concurrent" else kind, 2)
        if kind == "concurrent":
            prior = isotropic(0.1, rng.uniform(0.5, 2))
            won = bounds.tasks_to_win(prior, 30, num_concurrent=3, eta=0.5, **options)
            assert won is not None
        else:
            won = bounds.tasks_to_win(prior, 30, **options)
        if won is None:
            alone = bounds.independent(prior, 10**9, 30, **options)
            assert bounds.sequential(prior, 10**9, 30, **options).total >= alone.total
            continue
        least = 3 if kind == "concurrent" else 1
        for m in range(max(least, won - 40), won + 40):
            if kind == "concurrent":
                hier = bounds.concurrent(prior, m, 30, 3, eta=0.5, **options)
            else:
                hier = bounds.sequential(prior, m, 30, **options)
            wins = hier.total < bounds.independent(prior, m, 30, **options).total
            assert wins == (m >= won)


def test_no_number_of_tasks_wins_when_there_is_nothing_to_share():
    assert bounds.tasks_to_win(linear(np.zeros((2, 2)), np.eye(2), 1.0), 10) is None
    aside = linear(np.diag([0.0, 0.1]), np.diag([1.0, 0.5]), 1.0)  # lambda_1 stays that of Sigma_0
    assert bounds.tasks_to_win(aside, 10) is None


def test_tasks_to_win_by_hand():
    """The least m with m + 24 log(1 + 8 m) / log(33) below 2.5 log(41) / log(11) m, and so on."""
    assert bounds.tasks_to_win(by_hand(), 8, constants="paper") == 11
    assert bounds.tasks_to_win(by_hand(), 8) == 4
    assert bounds.tasks_to_win(isotropic(0.1, 1.0), 200, max_norm=sqrt(0.5)) == 1


def measured(rng, name, prior, arms, m, n, runs, num_concurrent):
    """Each run's sum of the played arms' variances, and that of its first d plays per task."""
    mean = prior.hyper_mean
    mu = rng.multivariate_normal(mean, prior.hyper_cov, runs)
    theta = mu[:, None] + rng.multivariate_normal(0 * mean, prior.task_cov, (runs, m))
    policy = POLICIES[name](prior, num_tasks=m, num_populations=runs, truth=mu)
    after, first = np.zeros(runs), np.zeros(runs)
    order = np.argsort(rng.random((runs, n, m)), axis=2)  # in each sweep every task acts once
    for sweep in range(n):
        for start in range(0, m, num_concurrent):
            s = order[:, sweep, start : start + num_concurrent]
            tasks = (np.arange(runs)[:, None] * m + s).ravel()
            x = arms[policy.act(rng, tasks, arms)]
            prediction = policy.belief.predict(tasks, x)
            sums = (prediction.within_var + prediction.shared_var).reshape(runs, -1).sum(1)
            if sweep < prior.dim:
                first += sums
            else:
                after += sums
            rewards = (x * theta.reshape(-1, prior.dim)[tasks]).sum(1)
            rewards += prior.noise_std * rng.standard_normal(len(tasks))
            policy.learn(tasks, x, rewards)
    return after, first


@pytest.mark.parametrize(
    ("name", "stds", "reached"),
    [
        ("HierTS", (0.03, 0.02), 0.99), ("HierTS", (0.3, 0.3), 0.85),
        ("TS", (0.03, 0.02), 0.99), ("TS", (0.3, 0.3), 0.85),
        ("OracleTS", (0.03, 0.02), 0.99), ("OracleTS", (0.3, 0.3), 0.85),
        ("HierTS-forced", (0.03, 0.02), 0.92), ("HierTS-forced", (0.3, 0.3), 0.7),
    ],
)  # fmt: skip
def test_measured_variances_stay_below_their_bound(name, stds, reached):
    """With unit arms and isotropic covariances they reach this share of it, most if narrow."""
    rng = np.random.default_rng(14)
    m, n, prior = 6, 30, isotropic(*stds, noise_std=1.0)
    angles = np.linspace(0, 2 * pi, 8, endpoint=False)
    arms = np.column_stack([np.cos(angles), np.sin(angles)])
    num_concurrent = 3 if name == "HierTS-forced" else 1
    after, first = measured(rng, name, prior, arms, m, n, 30, num_concurrent)
    if name == "HierTS-forced":
        eta = SpanningArms.of(arms).eta
        bound, variance = bounds.concurrent(prior, m, n, num_concurrent, eta=eta), after
    else:
        by = {"HierTS": bounds.sequential, "TS": bounds.independent, "OracleTS": bounds.oracle}
        bound, variance = by[name](prior, m, n), first + after
    assert (variance < bound.variance).all()
    assert (variance > reached * bound.variance).all()


def test_the_paper_s_synthetic_problem():
    """About 870 for arms taken to have norm 1, against a regret of about 32."""
    unit = bounds.sequential(isotropic(0.1, 0.5), 10, 200, constants="paper")
    assert unit.total == pytest.approx(867.8156, abs=1e-4)
    norm = {"max_norm": sqrt(0.5)}
    mended = bounds.sequential(isotropic(0.1, 1.0), 10, 200, **norm)
    printed = bounds.sequential(isotropic(0.1, 1.0), 10, 200, constants="paper", **norm)
    assert mended.total == pytest.approx(840.9639, abs=1e-4)
    assert printed.total == pytest.approx(854.4743, abs=1e-4)
    assert mended.total < bounds.independent(isotropic(0.1, 1.0), 10, 200, **norm).total


def test_one_interaction_and_delta_one_leave_the_tail_alone():
    bound = bounds.sequential(by_hand(), 1, 1)
    assert bound.delta == 1
    assert bound.total == bound.tail_regret > 0
    given = bounds.sequential(by_hand(), 4, 8, delta=1 / e)
    check(
        given,
        task_regret=2 * sqrt(2 * 32 * 4),
        tail_regret=given.sigma_max * sqrt(16 / pi) * 32 / e,
    )


def test_errors_name_the_argument_its_value_and_what_was_expected():
    prior = by_hand()
    armed = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    deep = GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]]] * 3, noise_std=1.0)
    sequential, concurrent = bounds.sequential, bounds.concurrent
    for call, message in [
        (lambda: sequential(deep, 2, 3), "prior must have two levels.*got 3"),
        (lambda: bounds.independent(deep, 2, 3), "prior must have two levels.*got 3"),
        (lambda: bounds.oracle(deep, 2, 3), "prior must have two levels.*got 3"),
        (lambda: bounds.tasks_to_win(deep, 3), "prior must have two levels.*got 3"),
        (lambda: sequential("prior", 2, 3), "prior must be a GaussianHierarchy, got 'prior'"),
        (lambda: sequential(prior, 0, 3), "num_tasks must be .* at least 1, got 0"),
        (lambda: sequential(prior, 2, 2.5), "num_interactions must be .*, got 2.5"),
        (lambda: sequential(prior, 2, 3, delta=0.0), "delta must be positive, got 0"),
        (lambda: sequential(prior, 2, 3, delta=1.5), r"delta must be in \(0, 1\], got 1.5"),
        (lambda: sequential(prior, 2, 3, delta=float("nan")), "delta must be finite"),
        (lambda: sequential(prior, 2, 3, constants="own"), "'repaired' or 'paper', got 'own'"),
        (lambda: sequential(prior, 2, 3, max_norm=-1.0), "max_norm must be positive, got -1"),
        (lambda: sequential(armed, 2, 3, max_norm=2.0), "max_norm must be 1 .*, got 2"),
        (lambda: sequential(armed, 2, 3, num_arms=2), "num_arms must be 3 .*, got 2"),
        (lambda: sequential(prior, 2, 3, num_arms=0), "num_arms must be .* at least 1, got 0"),
        (lambda: concurrent(prior, 2, 3, 3, eta=0.1), "num_concurrent .* num_tasks = 2, got 3"),
        (lambda: concurrent(prior, 2, 3, 0, eta=0.1), "num_concurrent must be .*, got 0"),
        (lambda: concurrent(prior, 2, 3, 2), "eta must be given for a linear prior"),
        (lambda: concurrent(prior, 2, 3, 2, eta=0.0), "eta must be positive, got 0"),
        (lambda: concurrent(prior, 2, 3, 2, eta=1.2), r"eta .* max_norm\*\*2 = 1, .* got 1.2"),
        (lambda: bounds.variance_bound(prior, 2, 3, num_concurrent=3, eta=1.0), "num_concurrent"),
        (lambda: bounds.bayes_regret(prior, -1.0, 2, 3), "variance_sum must not be negative"),
        (lambda: bounds.decomposition_bound(prior, np.eye(3)), r"shape \(2, 2\), got \(3, 3\)"),
        (lambda: bounds.decomposition_bound(prior, -np.eye(2)), "semi-definite, got .* of -1"),
        (lambda: bounds.decomposition_bound(prior, 1.0, -1.0), "norm must not be negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
