"""What people give an agent in other forms than plain Python's, or not in the right one."""

import json

import numpy as np
import pytest
from support.agents import ARMED, ARMS, LINEAR, Clock, state

from hierbandits import Agent, Recipe
from hierbandits.models.variants import as_given


def test_names_and_numbers_of_numpy_become_plain(tmp_path):
    agent = Agent(ARMED, seed=0, journal=tmp_path / "journal", clock=Clock())
    agent.add_arm(np.int64(7), hyper_mean=np.float32(0.5), task_std=np.float32(0.25))
    agent.retire_arm(np.int64(1))
    agent.add_arm(np.str_("x"))
    made = agent.decide(np.str_("t"), [np.int64(7)], best=np.bool_(True))
    agent.decide(np.int64(3))
    assert [type(task) for task in agent.tasks] == [str, int]
    assert made.arm == 7
    assert {type(name) for name in agent._state.catalogue.names} == {int, str}
    assert agent._state.catalogue.retired == {1}
    agent.save(tmp_path / "agent.hb")
    again = Agent.load(tmp_path / "agent.hb")
    assert state(again)[:-1] == state(agent)[:-1]
    assert state(Agent.replay(tmp_path / "journal", ARMED))[:-1] == state(agent)[:-1]


@pytest.mark.parametrize("now", [np.float64(5.0), np.float32(5.0), np.int64(5), 5])
def test_a_clock_may_count_in_numbers_of_numpy(now):
    agent = Agent(ARMED, seed=0, clock=lambda: now)
    for made in (agent.decide("t"), agent.decide("t"), *agent.decide_many(["t"])):
        assert (type(made.time), made.time) == (float, 5.0)
        agent.reward(made.id, 1.0)
    assert {type(entry.settled) for entry in agent._state.ledger.settled.values()} == {float}


@pytest.mark.parametrize("now", [np.nan, np.inf, None, "noon", -np.inf])
def test_a_clock_that_tells_no_time_changes_nothing(now):
    clock = Clock()
    agent = Agent(ARMED, "HierTS-forced", seed=0, clock=clock)
    agent.decide("t", id="a")
    before, clock.now = state(agent), now
    for call in (
        lambda: agent.decide("t"),
        lambda: agent.decide("new"),
        lambda: agent.reward("a", 1.0),
        lambda: agent.reward_many(["a"], [1.0]),
        lambda: agent.learn(["t"], [0], [1.0]),
        lambda: agent.expire(10),
        lambda: agent.add_arm("x"),
    ):
        with pytest.raises(ValueError, match="clock must be"):
            call()
        assert state(agent) == before


def _failing(view, rng, nodes, arms, /):
    rng.random(5)
    raise ZeroDivisionError


class QuickFailing:
    def __call__(self, view, rng, nodes, arms, /):
        return _failing(view, rng, nodes, arms)

    def one(self, view, /):
        def choose(stock, node, table):
            stock.refill(3)
            stock.used += 3
            raise ZeroDivisionError

        return choose


@pytest.mark.parametrize("rule", [_failing, QuickFailing()])
@pytest.mark.parametrize("forced", [True, False])
def test_a_rule_that_fails_leaves_the_random_numbers(rule, forced):
    agent = Agent(ARMED, Recipe(as_given, rule, "failing", forced=forced), seed=0)
    agent.learn(["t"], [0], [1.0])
    before = state(agent)
    for tasks in (["t"], ["t", "new"]):
        with pytest.raises(ZeroDivisionError):
            agent.decide_many(tasks)
        assert state(agent) == before
    with pytest.raises(ZeroDivisionError):
        agent.decide("t")
    assert state(agent) == before


def test_a_clock_that_fails_leaves_the_random_numbers():
    fails = []
    agent = Agent(ARMED, "HierTS-forced", seed=0, clock=lambda: 1 / 0 if fails else 1.0)
    agent.decide("t")
    before = state(agent)
    fails.append(True)
    for call in (lambda: agent.decide("t"), lambda: agent.decide_many(["t", "s"])):
        with pytest.raises(ZeroDivisionError):
            call()
        assert state(agent) == before


def test_a_pending_decision_keeps_its_own_features_alone(tmp_path):
    agent = Agent(LINEAR, arms=ARMS, seed=0, journal=tmp_path / "journal")
    agent.decide_many(range(50))
    agent.save(tmp_path / "agent.hb")
    replayed = Agent.replay(tmp_path / "journal", LINEAR, arms=ARMS)
    for each in (agent, replayed, Agent.load(tmp_path / "agent.hb")):
        rows = [entry.row for entry in each._state.ledger.pending.values()]
        assert len(rows) == 50
        assert all(row.base is None for row in rows)


@pytest.mark.parametrize("wrong", [True, 1.0, np.True_, np.float64(1.0), "\ud800"])
def test_other_things_are_no_names(wrong):
    agent = Agent(ARMED, seed=0)
    agent.decide("t")
    before = state(agent)
    for call in (
        lambda: agent.decide(wrong),
        lambda: agent.decide_many([wrong]),
        lambda: agent.decide("t", [wrong]),
        lambda: agent.learn([wrong], [0], [1.0]),
        lambda: agent.learn(["t"], [wrong], [1.0]),
        lambda: agent.add_arm(wrong),
        lambda: agent.retire_arm(wrong),
        lambda: agent.forget(wrong),
    ):
        with pytest.raises(ValueError, match=r"(task|arms|features|name) must be"):
            call()
        assert state(agent) == before
    with pytest.raises(ValueError, match="arms must"):
        Agent(LINEAR, arms=ARMS).decide("t", [wrong, wrong])


def test_an_index_means_the_same_to_decide_and_to_learn():
    agent = Agent(ARMED, arms=["a", "b", "c"], seed=0)
    agent.retire_arm("a")
    assert agent.decide("t", [2, 1]).offered == ("c", "b")
    agent.learn(["t"], [1], [1.0])
    assert agent.table()["rewards"] == [0, 1, 0]
    with pytest.raises(ValueError, match="arms must not be retired, got 'a'"):
        agent.decide("t", [0])
    with pytest.raises(ValueError, match="arms must be distinct"):
        agent.decide("t", [1, "b"])
    linear = Agent(LINEAR, arms=ARMS, seed=0)
    assert linear.decide("t", [2]).arm == "high"
    agent.add_arm(1)  # from now on integers are names
    assert agent.decide("t", [1]).features == 3
    with pytest.raises(ValueError, match="arms must be arms of this agent"):
        agent.decide("t", [2])
    with pytest.raises(ValueError, match="features must be arms of this agent"):
        agent.learn(["t"], [2], [1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"floor": "x"}, "floor must be numbers, got 'x'"),
        ({"floor": np.nan}, "floor must be finite"),
        ({"floor": [0.1, 0.2]}, "floor must have shape"),
        ({"seed": "x"}, "seed must be a whole number of at least 0, got 'x'"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"clock": 5.0}, "clock must be a function that tells the time, got 5"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Agent(ARMED, **options)


def test_wrong_rounds_are_named():
    agent = Agent(ARMED, seed=0)
    for call, message in (
        (lambda: agent.decide_many(5), "tasks must be several tasks, got 5"),
        (lambda: agent.learn(None, [], []), "tasks must be several tasks, got None"),
        (lambda: agent.decide_many(["s", "t"], ids="ab"), "ids must be a list of 2 strings"),
        (lambda: agent.decide_many(["s", "t"], ids=5), "ids must be a list of 2 strings, got 5"),
        (lambda: agent.decide("t", best="no"), "best must be True or False, got 'no'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert agent.tasks == []


def test_no_events_are_learned_in_every_form():
    for prior, nothing in ((ARMED, []), (LINEAR, []), (LINEAR, np.empty((0, 2)))):
        events = []
        agent = Agent(prior, journal=events.append)
        agent.learn([], nothing, [])
        assert agent.tasks == []
        again = Agent.replay(json.loads(json.dumps(events)), prior)
        assert again._state.num_events == 1
    with pytest.raises(ValueError, match="features must have shape"):
        Agent(LINEAR).learn([], [[1.0]], [])
