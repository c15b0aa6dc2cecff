"""Agents whose arms are Betas or Gammas: every kind of event, every policy that can."""

import numpy as np
import pytest
from support.agent_lives import GRID_PRIORS, check_knows, live, long_life, new_agent
from support.agents import Clock
from support.states import belief_state

import hierbandits as hb
from hierbandits.models.variants import as_given

each_form = pytest.mark.parametrize("form", GRID_PRIORS)
POLICIES = [name for name, recipe in hb.POLICIES.items() if recipe.believe is as_given]


@each_form
@pytest.mark.parametrize("policy", POLICIES)
def test_an_agent_lives_with_every_policy(form, policy, tmp_path):
    agent = new_agent(form, policy, draws=4 if policy != "HierTS" else None)
    long_life(agent, form, np.random.default_rng(0), events=8)
    agent.save(tmp_path / "agent")
    again = hb.Agent.load(tmp_path / "agent", clock=Clock())
    assert belief_state(again.belief) == belief_state(agent.belief)
    assert again.decide("t0").arm == agent.decide("t0").arm


@each_form
def test_an_agent_knows_what_it_was_told(form):
    agent = hb.Agent(type(GRID_PRIORS[form])(3, resolution=96), "HierTS", seed=0, clock=Clock())
    history = live(agent, form, np.random.default_rng(1), events=40)
    id = next(iter(history))
    agent.correct(id, 1.0)
    history[id] = history[id][0], 1.0
    forgotten = history[id][0].task
    agent.forget(forgotten)
    check_knows(agent, {k: v for k, v in history.items() if v[0].task != forgotten})


@each_form
def test_tables_have_intervals_of_rewards(form):
    agent = new_agent(form, "HierTS")
    live(agent, form, np.random.default_rng(2), events=20)
    table = agent.table(0.9)
    low, mean, high = (np.array(table[name]) for name in ("low", "mean", "high"))
    assert (low < mean).all()
    assert (mean < high).all()
    assert (low >= 0).all()
    assert form == "gamma" or (high <= 1).all()
    with pytest.raises(ValueError, match=r"rewards must be|value must be"):
        agent.reward(agent.decide("t0").id, -1.0)


def test_simulations_take_them():
    means, prior = np.array([[0.2, 0.5, 0.3], [0.3, 0.8, 0.2]]), hb.BetaHierarchy(3, resolution=16)
    world = hb.environments.KnownBandit(means=means, prior=prior, rewards="bernoulli")
    study = hb.simulate(
        world, ["HierTS", "HierIDS"], hb.schedules.Federated(), 2, num_interactions=20,
        progress=False, jobs=1,
    )  # fmt: skip
    assert 0 < study.mean("HierTS")[0] < 20 * 2 * 0.55  # less than always playing the worst
    with pytest.raises(ValueError, match="prior must state the noise of gaussian rewards"):
        hb.environments.KnownBandit(means=means, prior=prior)
    with pytest.raises(ValueError, match="policies must suit the environment, got 'TS': prior"):
        hb.simulate(world, ["HierTS", "TS"], hb.schedules.Federated(), 2)
    with pytest.raises(ValueError, match="prior must be a GaussianHierarchy for this policy"):
        hb.POLICIES["TS"](hb.BetaHierarchy(3))
