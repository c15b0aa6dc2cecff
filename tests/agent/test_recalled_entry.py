"""Rewards of decisions that an agent has forgotten, replaced exactly."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.agent_lives import EVERY_PRIOR
from support.agents import ARMED

from hierbandits import Agent
from hierbandits.agent.decision import UnknownDecision

FEATURES = {"a": [1.0, -0.5], "b": [0.3, 0.8], "c": [-0.7, 0.4]}


def path(prior, number):
    return f"t{number}" if prior.num_levels == 2 else ("group", f"t{number}")


def life(prior, remember, journal=None):
    """Rewards of three tasks, which all are 1 at first, and then what they should have been."""
    arms = [*"abc"[: prior.dim]] if prior.is_armed else FEATURES
    agent = Agent(prior, arms=arms, seed=3, remember=remember, journal=journal)
    rng, made = np.random.default_rng(1), []
    for number in range(30):
        made.append(agent.decide(path(prior, number % 3)))
        agent.reward(made[-1].id, 1.0)
    for one in made[::2]:
        value = float(rng.integers(0, 2))
        assert agent.correct(one.id, value, forgotten=(one, 1.0)) in (value != 1.0, True)
    return agent, made


@pytest.mark.parametrize("kind", EVERY_PRIOR)
def test_what_is_forgotten_is_replaced_as_what_is_remembered(kind):
    prior = EVERY_PRIOR[kind]
    short, _ = life(prior, remember=2)
    long, _ = life(prior, remember=None)
    for name in ("mean", "within_var", "shared_var", "rewards"):
        assert_allclose(short.table()[name], long.table()[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["armed", "linear", "deep"])
def test_a_journal_brings_it_back_whatever_is_remembered_then(kind):
    written, prior = [], EVERY_PRIOR[kind]
    agent, made = life(prior, 2, written.append)
    forgotten = [event for event in written if "decision" in event]
    assert {event["kind"] for event in forgotten} == {"correct"}
    assert len(forgotten) >= 13
    arms = None if prior.is_armed else FEATURES
    for remember in (2, None):
        again = Agent.replay(written, prior, arms=arms or [*"abc"], remember=remember)
        assert_allclose(again.table()["mean"], agent.table()["mean"], rtol=1e-9)
    last = made[0].id
    assert again.correct(last, 0.75, forgotten=(made[0], 123.0))  # it is remembered here
    assert again.log().frame().filter(decision=last)["reward"].to_list() == [0.75]


def test_odd_decisions_are_refused_and_change_nothing():
    agent, made = life(ARMED, remember=2)
    before = agent.table()
    first, other = made[0], made[1]
    for forgotten in (3, (first,), (first, 1.0, 2.0), ("t", 1.0), (other, 1.0), (None, 1.0)):
        with pytest.raises(ValueError, match="forgotten must be the decision "):
            agent.correct(first.id, 0.0, forgotten=forgotten)
    for reward in (np.nan, "1", None):
        with pytest.raises(ValueError, match="forgotten must be"):
            agent.correct(first.id, 0.0, forgotten=(first, reward))
    with pytest.raises(ValueError, match="task must be one that the agent has met"):
        agent.correct(first.id, 0.0, forgotten=(first._replace(task="nobody"), 1.0))
    with pytest.raises(UnknownDecision):
        agent.correct(first.id, 0.0)
    assert agent.table() == before
