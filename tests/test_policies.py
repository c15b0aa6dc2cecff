"""Contracts that every named policy keeps, and what each believes."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import POLICIES, Arms, Belief, GaussianHierarchy

RUNS, TASKS, D, K = 3, 4, 3, 6


def _prior(armed):
    rng = np.random.default_rng(0)
    if armed:
        return GaussianHierarchy.armed(
            D, hyper_mean=0.2, hyper_std=[1.0, 0.5, 2.0], task_std=0.4, noise_std=0.6
        )
    return GaussianHierarchy(
        hyper_mean=rng.standard_normal(D),
        hyper_cov=random_cov(rng, D),
        task_cov=random_cov(rng, D, 0.5),
        noise_std=0.6,
    )


def _policy(name, armed, num_tasks=TASKS, runs=RUNS):
    truth = np.random.default_rng(1).standard_normal((runs, D))
    return POLICIES[name](_prior(armed), num_tasks, runs, truth=truth)


def _play(policy, armed, rounds=15, seed=2):
    """A short concurrent run; returns all choices."""
    rng, world = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    table = world.standard_normal((K, D))
    history = []
    for _ in range(rounds):
        tasks = world.integers(0, RUNS * TASKS, 5)
        choices = policy.act(rng, tasks, None if armed else table)
        features = choices if armed else table[choices]
        policy.learn(tasks, features, world.standard_normal(5) + choices)
        history.append(choices)
    return np.array(history)


both = pytest.mark.parametrize("armed", [False, True])
every = pytest.mark.parametrize("name", POLICIES)


@every
@both
def test_choices_are_arms_and_the_same_seed_repeats_them(name, armed):
    one, other = _policy(name, armed), _policy(name, armed)
    choices = _play(one, armed)
    assert choices.min() >= 0
    assert choices.max() < (D if armed else K)
    np.testing.assert_array_equal(choices, _play(other, armed))
    np.testing.assert_array_equal(one.belief._nodes.mean, other.belief._nodes.mean)


@every
@both
def test_only_eligible_arms_are_played(name, armed):
    policy, rng = _policy(name, armed), np.random.default_rng(3)
    arms = None if armed else rng.standard_normal((D, D))
    for _ in range(20):
        masks = rng.random((2, D)) < 0.5
        masks[:, 1] = True
        choices = policy.act(rng, [0, 5], arms, masks)
        assert masks[[0, 1], choices].all()


@every
def test_one_arm_leaves_no_choice(name):
    policy = _policy(name, False)
    assert policy.act(np.random.default_rng(0), [1, 1], np.ones((1, D))).tolist() == [0, 0]


@every
@both
def test_bad_input_changes_nothing(name, armed):
    policy = _policy(name, armed)
    _play(policy, armed, rounds=2)
    before = policy.belief._nodes.mean.tobytes(), policy.belief._nodes.factor.tobytes()
    rng = np.random.default_rng(0)
    arms = None if armed else np.eye(D)
    x = [0] if armed else np.eye(D)[:1]
    with pytest.raises(ValueError, match="tasks must be in"):
        policy.act(rng, [10**6], arms)
    with pytest.raises(ValueError, match="arms must"):
        policy.act(rng, [0], [[np.nan] * D] if not armed else [7])
    with pytest.raises(ValueError, match="rewards must be finite"):
        policy.learn([0], x, [np.nan])
    assert before == (policy.belief._nodes.mean.tobytes(), policy.belief._nodes.factor.tobytes())


@every
@both
def test_runs_do_not_touch_each_other(name, armed):
    """A thousand runs in one batch are a thousand beliefs: what run 0 learns stays there."""
    policy = _policy(name, armed)
    untouched = [policy.belief.hyper(run).mean for run in (1, 2)]
    features = np.zeros(20, int) if armed else np.ones((20, D))
    policy.learn(np.arange(20) % TASKS, features, np.ones(20))
    for run, mean in zip((1, 2), untouched, strict=True):
        np.testing.assert_array_equal(policy.belief.hyper(run).mean, mean)


@every
def test_forms_of_arms_agree(name):
    """Shared, one for each event, and grouped sets of the same arms give the same choices."""
    table = np.random.default_rng(4).standard_normal((K, D))
    tasks = [0, 3, 3]
    each = np.tile(table, (3, 1, 1))
    forms = [table, each, list(each), Arms.grouped(each, [2, 0, 1])]
    found = [_policy(name, False).act(np.random.default_rng(5), tasks, arms) for arms in forms]
    for choices in found[1:]:
        np.testing.assert_array_equal(choices, found[0])


def test_the_oracle_must_be_told_the_truth():
    with pytest.raises(ValueError, match="truth must be given"):
        POLICIES["OracleTS"](_prior(False), 2)
    with pytest.raises(ValueError, match="hyper_means must have shape"):
        POLICIES["OracleTS"](_prior(False), 2, 3, truth=np.zeros((2, D)))


def _posteriors(name, armed=False):
    policy = _policy(name, armed, num_tasks=2, runs=1)
    rng = np.random.default_rng(6)
    tasks, x, y = rng.integers(0, 2, 9), rng.standard_normal((9, D)), rng.standard_normal(9)
    policy.learn(tasks, x, y)
    return _prior(armed), policy.belief, tasks, x, y


def _regression(mean, cov, x, y, noise_std):
    """The posterior of one linear model, in its textbook form."""
    precision = np.linalg.inv(cov) + x.T @ x / noise_std**2
    after = np.linalg.inv(precision)
    return after @ (np.linalg.inv(cov) @ mean + x.T @ y / noise_std**2), after


def test_hierts_believes_the_hierarchy():
    prior, belief, tasks, x, y = _posteriors("HierTS")
    reference = Belief(prior, 2)
    reference.observe(tasks, x, y)
    np.testing.assert_array_equal(belief.task(0).mean, reference.task(0).mean)


def test_ts_is_independent_regression_with_the_marginal_prior():
    prior, belief, tasks, x, y = _posteriors("TS")
    for task in range(2):
        mine = tasks == task
        mean, cov = _regression(
            prior.hyper_mean, prior.hyper_cov + prior.task_cov, x[mine], y[mine], 0.6
        )
        np.testing.assert_allclose(belief.task(task).mean, mean, rtol=1e-9)
        np.testing.assert_allclose(belief.task(task).cov, cov, rtol=1e-9)


def test_oracle_is_independent_regression_around_the_truth():
    prior, belief, tasks, x, y = _posteriors("OracleTS")
    truth = np.random.default_rng(1).standard_normal((1, D))[0]
    mine = tasks == 1
    mean, cov = _regression(truth, prior.task_cov, x[mine], y[mine], 0.6)
    np.testing.assert_allclose(belief.task(1).mean, mean, rtol=1e-9)
    np.testing.assert_allclose(belief.task(1).cov, cov, rtol=1e-9)


def test_pooled_is_one_regression_for_all_tasks():
    prior, belief, _, x, y = _posteriors("PooledTS")
    mean, cov = _regression(prior.hyper_mean, prior.hyper_cov + prior.task_cov, x, y, 0.6)
    assert belief.num_nodes == 1
    np.testing.assert_allclose(belief.hyper().mean, mean, rtol=1e-9)
    np.testing.assert_allclose(belief.hyper().cov, cov, rtol=1e-9)


def test_pooled_tasks_of_a_round_share_one_draw():
    policy = _policy("PooledTS", False, num_tasks=50, runs=2)
    choices = policy.act(np.random.default_rng(7), np.arange(100), np.eye(D))
    assert len(set(choices[:50])) == len(set(choices[50:])) == 1


def test_linucb_is_ridge_regression():
    _, belief, tasks, x, y = _posteriors("LinUCB")
    mine = tasks == 0
    gram = np.eye(D) + x[mine].T @ x[mine]
    np.testing.assert_allclose(
        belief.task(0).mean, np.linalg.solve(gram, x[mine].T @ y[mine]), rtol=1e-9
    )
    np.testing.assert_allclose(belief.task(0).cov, np.linalg.inv(gram), rtol=1e-9)


@every
def test_a_population_is_no_task(name):
    policy = _policy(name, True, num_tasks=2)
    root = int(policy.belief.roots[0])
    wrong = root if name != "PooledTS" else 2 * RUNS
    with pytest.raises(ValueError, match="tasks must be"):
        policy.act(np.random.default_rng(0), [wrong])
    with pytest.raises(ValueError, match="tasks must be"):
        policy.learn([wrong], [0], [1.0])
    for tasks in ([True], ["a"], [0.5]):
        with pytest.raises(ValueError, match="tasks must be integers"):
            policy.act(np.random.default_rng(0), tasks)


@every
@both
def test_an_empty_round_is_nothing(name, armed):
    policy, rng = _policy(name, armed), np.random.default_rng(0)
    for arms in [None] if armed else [np.eye(D), np.empty((0, 4, D))]:
        assert policy.act(rng, [], arms).shape == (0,)
    assert policy.act(rng, [], None if armed else np.eye(D), np.empty((0, D), bool)).shape == (0,)


def test_deeper_hierarchies_work_in_every_policy():
    prior = GaussianHierarchy.deep(
        hyper_mean=np.zeros(2), covs=[np.eye(2), 0.5 * np.eye(2), 0.1 * np.eye(2)], noise_std=0.5
    )
    for recipe in POLICIES.values():
        policy = recipe(prior, (2, 3), 2, truth=np.zeros((2, 2)))
        choices = policy.act(np.random.default_rng(0), np.arange(12), np.eye(2))
        policy.learn(np.arange(12), np.eye(2)[choices], np.ones(12))
        assert choices.shape == (12,)


def test_propensities_are_for_thompson_sampling():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="thompson rule"):
        _policy("HierUCB", True).act_with_propensities(rng, [0], draws=5)
    with pytest.raises(ValueError, match="draws must be a whole number of at least 1"):
        _policy("TS", True).act_with_propensities(rng, [0], draws=0)
    with pytest.raises(ValueError, match="floor must be in"):
        _policy("TS", True).act_with_propensities(rng, [0], draws=5, floor=1.5)


def test_hierarchy_helps_and_the_order_of_policies_is_the_papers():
    """A short paired study of the paper's problem, judged in standard errors."""
    runs, m, rounds, rng = 300, 10, 60, np.random.default_rng(8)
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(2), hyper_cov=np.eye(2), task_cov=0.01 * np.eye(2), noise_std=0.5
    )
    mu = rng.standard_normal((runs, 2))
    theta = mu[:, None] + 0.1 * rng.standard_normal((runs, m, 2))
    arms = rng.uniform(-0.5, 0.5, (runs, 10, 2))
    schedule = rng.integers(0, m, (rounds, runs, 5))
    noise = 0.5 * rng.standard_normal((rounds, runs * 5))
    means = np.einsum("rkd,rmd->rmk", arms, theta)
    regret = {}
    for name in ("HierTS", "TS", "OracleTS"):
        policy = POLICIES[name](prior, m, runs, truth=mu)
        choose = np.random.default_rng(9)
        total = np.zeros(runs)
        for t in range(rounds):
            run = np.repeat(np.arange(runs), 5)
            tasks = schedule[t].ravel()
            sets = Arms.grouped(arms, run)
            choices = policy.act(choose, run * m + tasks, sets)
            value = means[run, tasks]
            got = value[np.arange(run.size), choices]
            policy.learn(run * m + tasks, sets.features(choices), got + noise[t])
            total += (value.max(axis=1) - got).reshape(runs, 5).sum(axis=1)
        regret[name] = total
    for better, worse in (("OracleTS", "HierTS"), ("HierTS", "TS")):
        gap = regret[worse] - regret[better]
        assert gap.mean() > 6 * gap.std() / np.sqrt(runs)
