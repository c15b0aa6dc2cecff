"""A reward that was a typing error of any size leaves no trace when it is corrected."""

import numpy as np
import pytest
from support.agent_lives import PRIORS, check_knows, live, new_agent
from support.agents import Clock, state

from hierbandits import Agent

every_form = pytest.mark.parametrize("form", list(PRIORS))
policies = pytest.mark.parametrize("policy", ["HierTS", "HierTS-forced", "PooledTS"])


@every_form
@policies
@pytest.mark.parametrize("typo", [1e3, -1e6, 1e9])
def test_a_corrected_typo_leaves_no_trace(form, policy, typo):
    events, rng = [], np.random.default_rng(0)
    agent = new_agent(form, policy, journal=events.append)
    history = live(agent, form, rng, 20)
    first, *_, last = history
    for id in (first, last):
        agent.correct(id, typo)
    history |= live(agent, form, rng, 20, name="later")
    for id in (first, last):
        agent.correct(id, history[id][1])
    check_knows(agent, history)
    live(agent, form, rng, 5, name="last")
    names = list(agent._state.catalogue.names) or None
    again = Agent.replay(events, PRIORS[form], policy, arms=names, clock=Clock())
    assert state(again)[:-1] == state(agent)[:-1]


@pytest.mark.parametrize("typo", [1e6, 1e9])
def test_so_does_a_default_that_was_far_too_large(typo):
    agent = new_agent("armed", "HierTS")
    history = live(agent, "armed", np.random.default_rng(0), 30)
    waiting = agent.pending
    agent._books.clock.now += 1.0
    agent.expire(0.5, default=typo)
    rewards = np.linspace(-1, 1, len(waiting))
    agent.reward_many([made.id for made in waiting], rewards)
    told = zip(waiting, rewards.tolist(), strict=True)
    check_knows(agent, history | {made.id: (made, reward) for made, reward in told})


def test_a_usual_reward_is_replaced_without_a_new_belief():
    agent = new_agent("linear", "HierTS")
    history = live(agent, "linear", np.random.default_rng(0), 30)
    belief = agent.belief
    for id in history:
        agent.correct(id, 0.25)
    assert agent.belief is belief
    agent.correct(id, 1e6)  # it comes in, and loses nothing
    assert agent.belief is belief
    agent.correct(id, 0.25)
    assert agent.belief is not belief
