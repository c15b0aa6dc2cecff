"""Logs replayed: an agent that has learned every row, and remembers the ids."""

import datetime

import numpy as np
import polars as pl
import pytest
from support.agent_lives import PRIORS, check_knows, every_policy, live, new_agent
from support.agents import ARMED, DEEP, LINEAR, Clock, ledger_parts

from hierbandits import Agent, Columns, GaussianHierarchy, Log


@pytest.mark.parametrize("form", list(PRIORS))
@every_policy
def test_a_log_rebuilds_the_agent_that_made_it(form, policy):
    agent = new_agent(form, policy, draws=10 if policy in ("HierTS", "TS") else None)
    history = live(agent, form, np.random.default_rng(0), 60)
    again = Agent.replay(agent.log(), agent.prior, policy, clock=Clock())
    assert sorted(map(str, again.tasks)) == sorted({str(m.task) for m, _ in history.values()})
    check_knows(again, history)
    for task in again.tasks if policy != "AdaptiveHierTS" else ():  # whose widths may differ
        one, other = (a.belief.task(a.node(task)) for a in (agent, again))
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.cov, other.cov, rtol=1e-9, atol=1e-9)
    if agent.prior.num_levels == 2 and policy != "AdaptiveHierTS":
        np.testing.assert_allclose(
            agent.belief.log_evidence(), again.belief.log_evidence(), rtol=1e-9
        )
    for id, (_, reward) in history.items():
        assert again.reward(id, reward) is False
    if agent.prior.is_armed:
        assert ledger_parts(again._state.ledger.settled) == ledger_parts(
            agent._state.ledger.settled
        )


def test_only_so_many_decisions_are_remembered_and_all_are_learned():
    agent = new_agent("armed", "HierTS")
    history = live(agent, "armed", np.random.default_rng(1), 50)
    again = Agent.replay(agent.log(), agent.prior, remember=5)
    assert list(again._state.ledger.settled) == list(history)[-5:]
    assert again.belief.num_rewards.sum() == len(history)
    assert f"{len(history)} decisions, {len(history)} rewarded" in repr(again)


def _log(**columns):
    return Log.read(pl.DataFrame(columns), Columns(**{name: name for name in columns}))


def test_a_log_of_others_is_learned_too():
    days = [datetime.datetime(2024, 3, day) for day in (1, 2)]
    log = _log(task=[1, 2], arm=["x", "y"], reward=[0.5, 1.5], decision=[7, 8], time=days)
    prior = PRIORS["deep-armed"].with_levels(np.zeros(2), PRIORS["deep-armed"].covs[:2])
    agent = Agent.replay(log, prior)
    assert agent.tasks == [1, 2]
    assert agent.reward("7", 0.5) is False
    assert agent._state.ledger.settled["8"].decision.time == 1709337600.0
    assert agent.decide(1).offered == ("x", "y")
    wordy = _log(task=["s"], arm=["x"], reward=[0.5], decision=["d"], time=["monday"])
    with pytest.raises(ValueError, match=r"time must be a number, or an ISO date .*'monday'"):
        Agent.replay(wordy, prior, arms=["y", "x"])
    timeless = _log(task=["s"], arm=["x"], reward=[0.5], decision=["d"])
    clock = Clock()
    told = Agent.replay(timeless, prior, arms=["y", "x"], clock=clock)
    assert told._state.ledger.settled["d"].decision.time == clock.now
    assert told.table()["rewards"] == [0, 1]
    nameless = Agent.replay(_log(task=["s"], arm=["x"], reward=[0.5]), prior, arms=["y", "x"])
    assert nameless.table()["decisions"] == [1, 1]
    assert not nameless._state.ledger.settled


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_rows_are_as_old_as_they_say_or_younger_whatever_their_order(order):
    times = np.array([100.0, 200.0, 300.0, 400.0])[order]
    log = _log(
        task=["s"] * 4,
        arm=["x", "y", "x", "y"],
        reward=[0.5] * 4,
        decision=list("abcd"),
        time=times,
    )
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    agent = Agent.replay(log, prior, arms=["x", "y"], clock=lambda: 450.0)
    agent.expire(160.0)  # what is from before 290
    kept = {id for id, time in zip("abcd", times, strict=True) if time > 290}
    assert kept <= set(agent._state.ledger.settled)
    if order == [0, 1, 2, 3]:
        assert kept == set(agent._state.ledger.settled)


def test_a_path_is_a_population_and_its_task():
    parts = {"features": [[1.0, 2.0], [0.0, 1.0]], "reward": [0.5, 1.5]}
    agent = Agent.replay(_log(task=["s1", "s2"], population=["n", "s"], **parts), DEEP)
    assert agent.tasks == [("n", "s1"), ("s", "s2")]
    for task in (["[1", "x"], ["[1, 2, 3]", "x"]):
        with pytest.raises(ValueError, match="task must be a"):
            Agent.replay(_log(task=task, **parts), DEEP)


def test_a_log_of_another_form_is_refused():
    linear = _log(task=["t"], features=[[1.0, 2.0]], reward=[0.5])
    armed = _log(task=["t"], arm=["x"], reward=[0.5])
    with pytest.raises(ValueError, match="log must have arms, as the prior has"):
        Agent.replay(linear, ARMED)
    with pytest.raises(ValueError, match="log must have features, as the prior has"):
        Agent.replay(armed, LINEAR, arms=np.eye(2))
    with pytest.raises(ValueError, match="arms must name the 3 arms of the prior, got 1"):
        Agent.replay(armed, ARMED)
    with pytest.raises(ValueError, match=r"log must have features .* \(1, 2\)"):
        Agent.replay(_log(task=["t"], features=[[1.0]], reward=[0.5]), LINEAR)


def test_a_log_is_not_replayed_into_a_journal(tmp_path):
    log = _log(task=["t"], arm=["x"], reward=[0.5])
    with pytest.raises(ValueError, match="journal must not be given with a Log"):
        Agent.replay(log, arms=["x", "y"], journal=tmp_path / "journal")
    Agent.replay(log, arms=["x", "y"]).save(tmp_path / "agent.hb")
    agent = Agent.load(tmp_path / "agent.hb", journal=tmp_path / "journal")
    agent.decide("t")
    del agent
    again = Agent.load(tmp_path / "agent.hb", tail=tmp_path / "journal")
    assert len(again.pending) == 1


def test_a_task_that_is_nested_deeply_is_no_path():
    columns = Columns(task="task", features=["x", "y"], reward="reward")
    frame = pl.DataFrame({"task": ["[" * 100_000], "x": [1.0], "y": [1.0], "reward": [1.0]})
    with pytest.raises(ValueError, match="task must be a path as JSON"):
        Agent.replay(Log.read(frame, columns), DEEP)
