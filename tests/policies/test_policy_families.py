"""Policies of clicks and counts: they refit their beliefs as agents do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hierbandits as hb
from hierbandits.beliefs.refit import FIRST_REFIT
from hierbandits.environments import HierarchicalBandit
from hierbandits.models.bernoulli_rewards import BernoulliRewards
from hierbandits.models.poisson_rewards import PoissonRewards

TASKS, ARMS, EVENTS = 3, 4, 60
FAMILIES = [BernoulliRewards(), PoissonRewards()]


def _prior(rng: np.random.Generator, *, armed: bool) -> hb.GaussianHierarchy:
    form = hb.GaussianHierarchy.armed if armed else hb.GaussianHierarchy.linear
    means = rng.normal(-0.5, 0.3, ARMS)
    return form(ARMS, hyper_mean=means, hyper_std=0.8, task_std=0.4, noise_std=1.0)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.NAME)
def test_a_policy_believes_what_an_agent_believes(family, armed):
    """After every reward: before the first refit, at it and after it."""
    rng = np.random.default_rng(5)
    model = hb.GeneralizedHierarchy(_prior(rng, armed=armed), family)
    agent = hb.Agent(model, "HierTS", seed=0)
    policy = hb.POLICIES["HierTS"](model, TASKS, 1)
    table = np.arange(ARMS) if armed else np.eye(ARMS)
    for number in range(EVENTS):
        task = number if number < TASKS else int(rng.integers(TASKS))
        played = int(rng.integers(ARMS)) if armed else rng.uniform(-1, 1, ARMS)
        reward = float(rng.integers(2))
        agent.learn([task], [played], [reward])
        policy.learn([task], [played], [reward])
        told = policy.predict([task] * ARMS, table)
        its = agent.belief.predict([agent.node(task)] * ARMS, table)
        assert_allclose(told.mean, its.mean, rtol=1e-9, atol=1e-9)
        assert_allclose(told.std, its.std, rtol=1e-9)
    assert policy.belief.last_refit is not None


def test_a_study_fits_unknown_widths_to_clicks():
    """A learner whose widths stayed as at first would have twice the regret here."""
    prior = hb.GaussianHierarchy.armed(
        5, hyper_mean=-1.0, hyper_std=1.0, task_std=0.1, noise_std=1.0
    )
    world = HierarchicalBandit(hierarchy=prior, num_tasks=20, rewards=BernoulliRewards())
    policy = hb.POLICIES["AdaptiveHierTS"](world.prior, 20, 2)
    first = [policy.belief.hierarchy(run).task_cov[0] for run in range(2)]
    rng = np.random.default_rng(0)
    theta = prior.hyper_mean + rng.normal(0.0, 1.0, (2, 1, 5)) + rng.normal(0.0, 0.1, (2, 20, 5))
    nodes, arms = np.arange(40), rng.integers(5, size=(30, 40))
    for played in arms:
        log_odds = theta.reshape(40, 5)[nodes, played]
        policy.learn(nodes, played, (rng.random(40) < 1 / (1 + np.exp(-log_odds))).astype(float))
    after = [policy.belief.hierarchy(run).task_cov[0] for run in range(2)]
    assert all(now < then / 2 for now, then in zip(np.ravel(after), np.ravel(first), strict=True))


def test_the_first_refit_waits_for_the_rewards_of_a_run_not_of_all():
    """Many runs step together: 20 rewards of all of them are next to nothing for each."""
    model = hb.GeneralizedHierarchy(
        _prior(np.random.default_rng(1), armed=True), BernoulliRewards()
    )
    runs = 10
    policy = hb.POLICIES["HierTS"](model, 1, runs)
    for number in range(1, int(FIRST_REFIT) + 1):
        assert policy.belief.last_refit is None
        policy.learn(np.arange(runs), np.full(runs, number % ARMS), np.full(runs, 1.0))
    assert policy.belief.last_refit is not None


def test_a_run_believes_in_a_chunk_what_it_believes_alone():
    """Runs that step together share how many rows are matched again, and how many sweeps."""
    rng, runs, rounds, alone = np.random.default_rng(3), 200, 100, 4
    model = hb.GeneralizedHierarchy(_prior(rng, armed=False), BernoulliRewards())
    chunk = hb.POLICIES["HierTS"](model, TASKS, runs)
    policies = [hb.POLICIES["HierTS"](model, TASKS, 1) for _ in range(alone)]
    first, table = TASKS * np.arange(runs)[:, None], np.tile(rng.uniform(-1, 1, (20, ARMS)), (3, 1))
    for _ in range(rounds):
        tasks = rng.integers(TASKS, size=(runs, 5))
        x, rewards = rng.uniform(-1, 1, (runs, 5, ARMS)), rng.integers(2, size=(runs, 5)) * 1.0
        chunk.learn((first + tasks).ravel(), x.reshape(-1, ARMS), rewards.ravel())
        for run, policy in enumerate(policies):
            policy.learn(tasks[run], x[run], rewards[run])
    for run, policy in enumerate(policies):
        nodes = np.repeat(np.arange(TASKS), 20)
        own, its = policy.predict(nodes, table), chunk.predict(nodes + TASKS * run, table)
        assert np.abs((its.mean - own.mean) / own.std).max() < 0.02
        assert np.abs(np.log(its.std / own.std)).max() < 0.02
