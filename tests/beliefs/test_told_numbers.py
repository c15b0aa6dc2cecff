"""What an agent is told is checked before it happens."""

import pytest
from support.own_families import WRONG

import hierbandits as hb

PRIOR = hb.GaussianHierarchy.armed(arms=["a", "b"], hyper_std=1.0, task_std=0.5, noise_std=1.0)


def test_an_agent_refuses_a_reward_without_a_density_and_lives_on():
    events = []
    agent = hb.Agent(PRIOR, rewards=WRONG["densities"], seed=0, journal=events.append)
    decision = agent.decide("x")
    number = len(events)
    for call in (
        lambda: agent.reward(decision.id, 9.0),
        lambda: agent.learn(["y", "x"], ["a", "b"], [1.0, 9.0]),
    ):
        with pytest.raises(ValueError, match="family 'wrong'"):
            call()
    assert (len(events), agent.belief.num_rewards.sum(), agent.num_tasks) == (number, 0, 1)
    agent.reward(decision.id, 1.0)
    agent.learn(["y"], ["a"], [2.0])
    assert agent.belief.num_rewards.sum() == 2
