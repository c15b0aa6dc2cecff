"""Decisions that do not explore."""

import numpy as np
import pytest
from support.agent_lives import UNEVEN, every_policy, forms, live, new_agent, task_of

from hierbandits import Agent


@forms
@every_policy
def test_the_best_arm_has_the_highest_posterior_mean(form, policy):
    agent = new_agent(form, policy)
    live(agent, form, np.random.default_rng(0))
    for number in range(8):
        made = agent.decide(task_of(form, number), best=True)
        mean = agent.belief.task(agent.node(made.task)).mean
        if agent.prior.is_armed:
            assert made.features == mean.argmax()
        else:
            values = agent._state.catalogue.own.table @ mean
            assert made.arm == values.argmax()
        assert made.propensity is None


def test_best_decisions_carry_propensities_if_others_do():
    agent = Agent(UNEVEN.with_levels(np.zeros(3), UNEVEN.covs), seed=0, draws=20)
    made = agent.decide_many(["s", "t"], best=True)
    assert [decision.propensity for decision in made] == [pytest.approx(1 / 3)] * 2
    agent.reward(made[0].id, 5.0)
    assert agent.decide("s", best=True).propensity == 1.0
