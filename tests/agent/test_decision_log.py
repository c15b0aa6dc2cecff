"""An agent's history as a log: for learn_prior, evaluate, and another agent."""

import numpy as np
import pytest
from support.agent_lives import ARMS, PRIORS, every_policy, forms, live, new_agent
from support.agents import ARMED, LINEAR, Clock

from hierbandits import Agent, evaluate, learn_prior


def _busy(prior, rng, events, **options):
    """An agent with so many rewarded decisions in eight tasks."""
    clock = Clock()
    agent = Agent(prior, seed=0, clock=clock, **options)
    for event in range(events):
        clock.now += 1.0
        made = agent.decide(f"t{event % 8}")
        value = made.features if prior.is_armed else made.features[0]
        agent.reward(made.id, float(value + rng.normal()))
    return agent


@forms
@every_policy
def test_the_log_holds_what_was_rewarded(form, policy):
    agent = new_agent(form, policy)
    history = live(agent, form, np.random.default_rng(0))
    frame = agent.log().source
    assert frame["decision"].to_list() == list(history)
    assert frame["reward"].to_list() == [reward for _, reward in history.values()]
    made = [decision for decision, _ in history.values()]
    if PRIORS[form].is_armed:
        assert frame["arm"].to_list() == [decision.arm for decision in made]
        assert frame["eligible"].to_list() == [["a", "b", "c"]] * len(made)
    else:
        assert [tuple(row) for row in frame["features"].to_list()] == [d.features for d in made]
    sums = agent.log().sums()
    assert sums.num_rows == len(history)
    if form == "deep":
        assert set(sums.populations) <= {"north", "south"}
        assert all(task.startswith('["') for task in sums.tasks)


def test_a_log_learns_a_prior_and_is_evaluated():
    rng = np.random.default_rng(1)
    agent = _busy(ARMED, rng, 400, arms=["a", "b", "c"], draws=20, floor=0.3)
    agent.decide("t0", ["c", "b"], eligible=[True, False], id="only")
    agent.reward("only", 0.5)
    log = agent.log()
    prior, report = learn_prior(log, runs=2, progress=False)
    assert prior.dim == 3
    assert report.arms == ("a", "b", "c")
    judged = evaluate(log, ["arm:c", "HierTS"], progress=False)
    assert judged["arm:c", "ips"].value == pytest.approx(2.0, abs=6 * judged["arm:c", "ips"].error)
    assert Agent(prior, arms=report.arms).decide("t").arm in "abc"


def test_a_linear_log_learns_a_prior_and_names_arms_on_request():
    rng = np.random.default_rng(2)
    named = {"x": [1.0, 0.2], "y": [0.1, 1.0], "z": [-0.5, 0.5]}
    agent = _busy(LINEAR, rng, 300, arms=named, draws=20, floor=0.3)
    prior, _ = learn_prior(agent.log(), runs=2, progress=False)
    assert prior.dim == 2
    log = agent.log(by_arm=True)
    assert log.arms == ("x", "y", "z")
    judged = evaluate(log, ["arm:x"], arm_features=named, progress=False)
    assert judged["arm:x", "ips"].value == pytest.approx(1.0, abs=6 * judged["arm:x", "ips"].error)
    agent.reward(agent.decide("t0", {"other": [1.0, 1.0]}).id, 1.0)
    assert agent.log(by_arm=True).arms is None  # not all are its own


def test_a_log_is_in_the_order_of_decisions_and_holds_what_is_remembered():
    clock = Clock()
    agent = Agent(ARMED, seed=0, remember=3, clock=clock)
    for id in "abcde":
        clock.now += 1.0
        agent.decide("t", id=id)
    agent.reward_many(list("edcba"), np.arange(5.0))
    assert agent.log().source["decision"].to_list() == ["a", "b", "c"]
    assert agent.log().source["time"].to_list() == [1001.0, 1002.0, 1003.0]


def test_propensities_are_in_a_log_if_all_are_known(tmp_path):
    agent = Agent(ARMED, seed=0, clock=Clock())
    agent.reward(agent.decide("t").id, 1.0)
    assert agent.log().columns.propensity is None
    agent.save(tmp_path / "a")
    later = Agent.load(tmp_path / "a", journal=lambda _: None)
    later.reward(later.decide("t").id, 1.0)
    assert later.log().columns.propensity is None
    journaled = Agent(ARMED, seed=0, journal=lambda _: None)
    journaled.reward(journaled.decide("t").id, 1.0)
    assert journaled.log().columns.propensity == "propensity"


def test_names_of_one_kind_stay_and_others_become_text():
    agent = Agent(ARMED, seed=0)
    agent.reward_many([made.id for made in agent.decide_many([3, 1, 2])], [0.0] * 3)
    assert agent.log().sums().tasks == (3, 1, 2)
    assert agent.log().arms == (0, 1, 2)
    agent.reward(agent.decide("x").id, 1.0)
    assert agent.log().sums().tasks == ("3", "1", "2", "x")
    agent.reward(agent.decide("1").id, 1.0)
    with pytest.raises(ValueError, match="task names must differ as text in a log, got 1 and '1'"):
        agent.log()
    large = Agent(ARMED, seed=0)
    large.reward(large.decide(2**70).id, 1.0)
    assert large.log().sums().tasks == (str(2**70),)


def test_an_agent_without_rewards_has_no_log():
    agent = Agent(PRIORS["linear"], arms=ARMS)
    agent.decide("t")
    with pytest.raises(ValueError, match="log must hold decisions that have their rewards"):
        agent.log()


def test_rows_are_in_the_order_in_which_decisions_were_made(tmp_path):
    clock = Clock()
    agent = Agent(ARMED, seed=0, clock=clock)
    agent.decide_many(["t"] * 3, ids=["a", "b", "c"])
    clock.now -= 500  # the clock was put right
    agent.decide("t", id="d")
    agent.decide("t", id="e")
    agent.reward_many(["e", "c", "a"], [1.0, 2.0, 3.0])
    agent.save(tmp_path / "agent.hb")
    agent = Agent.load(tmp_path / "agent.hb", clock=clock)
    agent.decide("t", id="f")
    agent.reward_many(["f", "d", "b"], [4.0, 5.0, 6.0])
    assert agent.log().source["decision"].to_list() == list("abcdef")
