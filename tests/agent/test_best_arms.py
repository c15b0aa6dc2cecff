"""The best arms as far as is known, and their probabilities."""

import numpy as np
import pytest
from support.agent_lives import UNEVEN, every_policy, forms, live, new_agent, task_of
from support.agents import LINEAR

from hierbandits import Agent, Arms, Belief
from hierbandits.agent.best_arms import best_arms


@forms
@every_policy
def test_the_best_arm_has_the_highest_posterior_mean(form, policy):
    agent = new_agent(form, policy)
    live(agent, form, np.random.default_rng(0))
    for number in range(8):
        made = agent.decide(task_of(form, number), best=True)
        mean = agent.belief.task(agent.node(made.task)).mean
        if form == "armed":
            assert made.features == mean.argmax()
        else:
            values = agent._state.catalogue.own.table @ mean
            assert made.arm == values.argmax()
        assert made.propensity is None


def test_ties_are_broken_at_random_and_share_the_probability():
    belief = Belief(UNEVEN.with_levels(np.array([1.0, 1.0, 0.5]), UNEVEN.covs), 2)
    arms = Arms.shared(np.arange(3), 2).only([[True, True, True], [False, True, True]])
    counts = np.zeros((2, 3))
    for seed in range(400):
        choices, chances = best_arms(belief, np.random.default_rng(seed), np.arange(2), arms)
        counts[np.arange(2), choices] += 1
    assert chances.tolist() == [0.5, 1.0]
    assert counts[1].tolist() == [0, 400, 0]
    assert counts[0, 2] == 0
    assert abs(counts[0, 0] - 200) < 6 * 10


def test_of_no_events_there_is_no_best_arm():
    choices, chances = best_arms(
        Belief(LINEAR, 1), np.random.default_rng(0), np.empty(0, np.intp), Arms.shared(np.eye(2), 0)
    )
    assert choices.size == chances.size == 0


def test_best_decisions_carry_propensities_if_others_do():
    agent = Agent(UNEVEN.with_levels(np.zeros(3), UNEVEN.covs), seed=0, draws=20)
    made = agent.decide_many(["s", "t"], best=True)
    assert [decision.propensity for decision in made] == [pytest.approx(1 / 3)] * 2
    agent.reward(made[0].id, 5.0)
    assert agent.decide("s", best=True).propensity == 1.0
