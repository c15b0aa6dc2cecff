"""What each named policy believes, and what that is worth."""

from dataclasses import replace

import numpy as np
import pytest
from support.policies import D, small_policy, small_prior

from hierbandits import POLICIES, AdaptiveBelief, Arms, Belief, GaussianHierarchy, UnknownWidths
from hierbandits.policies.recipes import USUAL, name_of


def test_the_oracle_must_be_told_the_truth():
    with pytest.raises(ValueError, match="truth must be given"):
        POLICIES["OracleTS"](small_prior(False), 2)
    with pytest.raises(ValueError, match="truth must have shape"):
        POLICIES["OracleTS"](small_prior(False), 2, 3, truth=np.zeros((2, D)))


def _posteriors(name, armed=False):
    policy = small_policy(name, armed, num_tasks=2, runs=1)
    rng = np.random.default_rng(6)
    tasks, x, y = rng.integers(0, 2, 9), rng.standard_normal((9, D)), rng.standard_normal(9)
    policy.learn(tasks, x, y)
    return small_prior(armed), policy.belief, tasks, x, y


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


def test_linucb_is_ridge_regression():
    _, belief, tasks, x, y = _posteriors("LinUCB")
    mine = tasks == 0
    gram = np.eye(D) + x[mine].T @ x[mine]
    np.testing.assert_allclose(
        belief.task(0).mean, np.linalg.solve(gram, x[mine].T @ y[mine]), rtol=1e-9
    )
    np.testing.assert_allclose(belief.task(0).cov, np.linalg.inv(gram), rtol=1e-9)


def test_deeper_hierarchies_work_in_every_policy():
    """Rewards of one population raise what is believed there, and nothing elsewhere."""
    prior = GaussianHierarchy.deep(
        hyper_mean=np.zeros(2), covs=[np.eye(2), 0.5 * np.eye(2), 0.1 * np.eye(2)], noise_std=0.5
    )
    for recipe in POLICIES.values():
        policy = recipe(prior, (2, 3), 2, truth=np.zeros((2, 2)))
        tasks, arms = np.arange(12), np.eye(2)
        played = arms[policy.act(np.random.default_rng(0), tasks, arms)]
        np.testing.assert_array_equal(policy.predict(tasks, played).mean, 0.0)
        policy.learn(tasks[:6], played[:6], np.ones(6))
        after = policy.predict(tasks, played).mean
        assert (after[:6] > 0.1).all()
        np.testing.assert_array_equal(after[6:], 0.0)


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


def test_only_recipes_of_the_table_have_a_name():
    assert [name_of(recipe) for recipe in POLICIES.values()] == list(POLICIES)
    assert name_of(replace(POLICIES["TS"])) is None


def test_unknown_widths_are_believed_as_they_are_or_not_at_all():
    widths = UnknownWidths.of(D, armed=True, noise_std=0.7)
    for name in ("HierTS", "AdaptiveHierTS", "HierUCB", "HierGreedy"):
        belief = POLICIES[name](widths, 2).belief
        assert isinstance(belief, AdaptiveBelief)
        assert belief.prior is widths
    for name in ("TS", "PooledTS", "LinUCB"):
        with pytest.raises(ValueError, match="prior must be a GaussianHierarchy for this policy"):
            POLICIES[name](widths, 2)


@pytest.mark.parametrize("name", ["HierTS", "TS", "PooledTS"])
def test_numbers_of_tasks_are_whole(name):
    for wrong in (-1, 1.5, True, (2, -1)):
        with pytest.raises(ValueError, match="num_tasks must be a whole number"):
            POLICIES[name](small_prior(True), wrong)


def test_a_hierarchy_of_one_level_pools_its_tasks():
    prior = GaussianHierarchy.deep(hyper_mean=[0.0, 0.0], covs=[np.eye(2)], noise_std=0.5)
    policy = POLICIES["HierTS"](prior, 3, 2)
    policy.learn([0, 5], np.eye(2), [1.0, 1.0])
    assert policy.belief.num_nodes == 2
    assert policy.predict([2, 3], [[1.0, 0.0], [1.0, 0.0]]).mean.round(9).tolist() == [0.8, 0.0]


def test_the_usual_policy_believes_the_prior_as_it_is():
    """So it learns the widths where a prior leaves them open."""
    for prior in (small_prior(True), UnknownWidths.of(D, armed=True)):
        policy = POLICIES[USUAL](prior, 2)
        assert type(policy.belief) is type(POLICIES["HierTS"](prior, 2).belief)
        assert policy.gives_propensities


@pytest.mark.parametrize("wrong", [None, 3.0])
def test_a_recipe_must_believe_in_a_model(wrong):
    message = "prior must be a GaussianHierarchy or UnknownWidths or GeneralizedHierarchy or Unkn"
    with pytest.raises(ValueError, match=message):
        POLICIES["HierTS"](wrong, 2)
    with pytest.raises(ValueError, match=message):
        replace(POLICIES["HierTS"], believe=lambda prior: wrong)(small_prior(True), 2)
