"""A belief that starts over: made aside, then put in place."""

import numpy as np
import pytest
from support.agent_lives import forms, live, new_agent
from support.agents import state

from hierbandits.agent.start_over import StartOver, count_decisions


@forms
@pytest.mark.parametrize("policy", ["HierTS-forced", "PooledTS"])
def test_nothing_changes_until_it_is_put_in_place(form, policy):
    agent = new_agent(form, policy)
    live(agent, form, np.random.default_rng(0), 30)
    agent.forget(agent.tasks[1])
    own, before = agent._state, state(agent)
    table = agent.table()
    made = StartOver.of(
        own.recipe(own.prior), own.sums, own.roster.without(agent.tasks[0]), own.belief
    )
    made = StartOver.of(own.recipe(own.prior), own.sums, own.roster, own.belief)
    assert state(agent) == before
    own._take(made)
    own._take(made)  # twice is as once
    assert agent.belief is made.policy.belief
    for name, column in agent.table().items():
        if name in ("mean", "std"):
            np.testing.assert_allclose(column, table[name], rtol=1e-9, atol=1e-9)
        elif name in ("task", "arm", "rewards", "decisions"):
            assert column == table[name]
    assert [member.row for member in own.roster] == list(range(len(own.roster)))
    assert own.roster.nodes().tolist() == made.nodes.tolist()


def test_a_forced_start_counts_the_decisions_that_explored():
    agent = new_agent("armed", "HierTS-forced")
    agent.decide_many(["s", "t", "t"])
    agent.decide("t", best=True)
    own = agent._state
    policy = own.recipe(own.prior)
    moved, nodes = own.roster.moved_to(policy.belief)
    count_decisions(policy, moved, nodes)
    assert policy.forced.decided[nodes].tolist() == [1, 2]
