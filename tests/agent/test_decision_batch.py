"""A batch of decisions happens once, whatever happens in between."""

import json
import os
from datetime import UTC, datetime

import polars as pl
import pytest
from support.agents import ARMED
from support.batch_kills import counts_of

from hierbandits import Agent, evaluate
from hierbandits.agent import decide_batch, decision_batch

TASKS = pl.DataFrame({"store": ["a", "b", "a"], "visit": [7, 8, 9]})


@pytest.fixture
def agent(tmp_path):
    Agent(ARMED, seed=0, arms=["x", "y", "z"][: ARMED.dim], draws=20).save(tmp_path / "agent.hb")
    return tmp_path / "agent.hb"


def test_decisions_are_those_of_the_agent(agent, tmp_path):
    twin = Agent.load(agent)
    batch = decide_batch(agent, TASKS, tmp_path / "d.parquet", task="store")
    frame = pl.read_parquet(tmp_path / "d.parquet")
    assert frame.columns == ["store", "visit", "decision", "arm", "propensity", "decided_at"]
    assert frame.select("store", "visit").equals(TASKS)
    expected = twin.decide_many(["a", "b", "a"])
    assert frame["arm"].to_list() == [decision.arm for decision in expected]
    assert frame["propensity"].to_list() == [decision.propensity for decision in expected]
    known = Agent.load(agent).pending
    assert frame["decision"].to_list() == [decision.id for decision in known]
    assert [f"{batch.key}-{row}" for row in range(3)] == [decision.id for decision in known]
    assert frame["decided_at"].to_list() == [
        datetime.fromtimestamp(decision.time, UTC) for decision in known
    ]
    assert (batch.decisions, batch.new_tasks, batch.made_before, batch.written) == (
        3,
        2,
        False,
        True,
    )


def test_the_same_batch_is_decided_once(agent, tmp_path):
    out = tmp_path / "d.parquet"
    first = decide_batch(agent, TASKS, out, task="store")
    written, saved = out.read_bytes(), agent.read_bytes()
    again = decide_batch(agent, TASKS, out, task="store")
    assert (again.key, again.made_before, again.written) == (first.key, True, False)
    out.unlink()
    lost = decide_batch(agent, TASKS, out, task="store")
    assert (lost.key, lost.made_before, lost.written) == (first.key, True, True)
    assert (out.read_bytes(), agent.read_bytes()) == (written, saved)


def test_another_night_is_another_batch(agent, tmp_path):
    keys = {
        decide_batch(agent, tasks, tmp_path / name, task="store").key
        for tasks, name in ((TASKS, "1.csv"), (TASKS, "2.csv"), (TASKS.head(2), "3.csv"))
    }
    assert len(keys) == 3
    assert len(Agent.load(agent).pending) == 8


@pytest.mark.parametrize("content", [b"mine", b"", b"decision\nsomething-0\n"])
def test_a_file_that_holds_something_else_is_refused(agent, tmp_path, content):
    out, saved = tmp_path / "d.csv", agent.read_bytes()
    out.write_bytes(content)
    with pytest.raises(FileExistsError, match="out must be a new file, or hold the decisions"):
        decide_batch(agent, TASKS, out, task="store")
    assert (out.read_bytes(), agent.read_bytes()) == (content, saved)


def test_other_tasks_for_the_same_file_are_refused(agent, tmp_path):
    decide_batch(agent, TASKS, tmp_path / "d.csv", task="store")
    with pytest.raises(FileExistsError, match="holds something else"):
        decide_batch(agent, TASKS.head(2), tmp_path / "d.csv", task="store")
    assert len(Agent.load(agent).pending) == 3


def test_an_agent_that_was_put_back_is_told(agent, tmp_path):
    earlier = agent.read_bytes()
    decide_batch(agent, TASKS, tmp_path / "d.csv", task="store")
    agent.write_bytes(earlier)
    with pytest.raises(ValueError, match="put back from an earlier file"):
        decide_batch(agent, TASKS, tmp_path / "d.csv", task="store")


def test_decisions_that_are_forgotten_are_not_made_again(agent, tmp_path):
    out = tmp_path / "d.csv"
    decide_batch(agent, TASKS, out, task="store")
    loaded = Agent.load(agent)
    loaded.expire(0.0)
    loaded.save(agent)
    out.unlink()
    with pytest.raises(ValueError, match="has forgotten 3 of them since"):
        decide_batch(agent, TASKS, out, task="store")
    assert not out.exists()


def test_an_agent_that_another_saved_meanwhile_is_not_replaced(agent, tmp_path, monkeypatch):
    read = decision_batch.TaskRows.of

    def while_another_saves(*arguments, **named):
        other = Agent.load(agent)
        other.decide("elsewhere")
        other.save(agent)
        return read(*arguments, **named)

    monkeypatch.setattr(decision_batch.TaskRows, "of", while_another_saves)
    with pytest.raises(FileExistsError, match="another has saved it since"):
        decide_batch(agent, TASKS, tmp_path / "d.csv", task="store")
    assert not (tmp_path / "d.csv").exists()
    assert [decision.task for decision in Agent.load(agent).pending] == ["elsewhere"]


def test_a_csv_has_no_lists_and_an_arm_that_was_eligible(agent, tmp_path):
    tasks = TASKS.with_columns(may=pl.Series([["y"], ["x"], ["y"]]))
    out = tmp_path / "d.csv"
    decide_batch(agent, tasks, out, task="store", eligible="may")
    frame = pl.read_csv(out)
    assert frame.columns == ["store", "visit", *decision_batch.COLUMNS]
    assert frame["arm"].to_list() == ["y", "x", "y"]
    assert frame["propensity"].to_list() == [1.0, 1.0, 1.0]


def test_rounds_of_a_large_batch_are_counted(agent, tmp_path, monkeypatch):
    monkeypatch.setattr(decision_batch, "ROUND_ROWS", 2)
    seen = []
    out = tmp_path / "d.csv"
    decide_batch(agent, TASKS, out, task="store", progress=lambda *step: seen.append(step))
    assert seen == [(2, 3), (3, 3)]
    assert pl.read_csv(out).height == 3


def test_what_is_wrong_changes_nothing(agent, tmp_path):
    saved, out = agent.read_bytes(), tmp_path / "d.csv"
    strange = TASKS.with_columns(may=pl.Series([["w"], ["x"], ["y"]]))
    for tasks, named in (
        (TASKS.rename({"visit": "arm"}), {"task": "store"}),
        (TASKS, {"task": "shop"}),
        (strange, {"task": "store", "eligible": "may"}),
    ):
        with pytest.raises(ValueError, match="must"):
            decide_batch(agent, tasks, out, **named)
    assert agent.read_bytes() == saved
    assert sorted(os.listdir(tmp_path)) == ["agent.hb"]


def test_decisions_with_rewards_are_a_log(agent, tmp_path):
    out = tmp_path / "d.parquet"
    many = pl.DataFrame({"store": [f"s{i % 9}" for i in range(60)]})
    decide_batch(agent, many, out, task="store")
    log = pl.read_parquet(out).with_columns(reward=pl.int_range(60) % 3)
    told = evaluate(
        log, ["arm:x"], task="store", arm="arm", reward="reward", propensity="propensity",
        arms=["x", "y", "z"][: ARMED.dim], prior=ARMED,
    )  # fmt: skip
    assert json.dumps(told.to_dict())


def test_a_killed_decider_has_decided_once_in_the_end(tmp_path):
    counts = counts_of("decide", tmp_path, 12)
    assert counts["kills"] >= 9
    assert 0 < counts["saved"] < 12  # killed before the save, and after it
    assert counts["written"] < counts["saved"]  # killed between the two files
