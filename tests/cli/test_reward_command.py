"""The command `hierbandits reward`: what is learned of a file, and what is not."""

import json

import polars as pl
import pytest
from support.agents import ARMED
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app


@pytest.fixture
def agent(tmp_path):
    agent = hb.Agent(ARMED, arms=["x", "y", "z"], seed=0)
    agent.decide_many(["a", "b", "c"], ids=["1", "2", "3"])
    agent.save(tmp_path / "agent.hb")
    return tmp_path / "agent.hb"


def _run(agent, ids, values, *more):
    path = agent.with_name("rewards.parquet")
    rewards = pl.DataFrame({"decision": ids, "reward": values})
    rewards.write_parquet(path)
    result = CliRunner().invoke(app, ["reward", str(agent), str(path), *map(str, more)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_rewards_by_command(agent):
    result = _run(agent, ["1", "2", "3"], [1.0, 2.0, None])
    assert result.exit_code == 0, result.output
    rows = [line.split()[:2] for line in result.output.splitlines()[1:]]
    assert rows == [["2", "learned"], ["1", "missing"], ["1", "pending"]]
    again = _run(agent, ["1", "2", "3"], [1.0, 2.0, None], "--expire-days", 0, "--default", 0)
    rows = dict(line.split()[1::-1] for line in again.output.splitlines()[1:])
    expected = {"learned": "0", "repeated": "2", "missing": "1", "expired": "1", "pending": "0"}
    assert rows == expected
    assert hb.Agent.load(agent).log().sums().sums.n.sum() == 3


def test_counts_as_json_or_not_at_all(agent):
    told = json.loads(_run(agent, ["1", "9"], [1.0, 2.0], "--skip-unknown", "--json").stdout)
    assert {kind: told[kind] for kind in ("rows", "learned", "unknown", "pending")} == {
        "rows": 2,
        "learned": 1,
        "unknown": 1,
        "pending": 2,
    }
    assert _run(agent, ["2"], [1.0], "--quiet").output == ""


@pytest.mark.parametrize(
    ("ids", "values", "message"),
    [
        (["1", "9"], [1.0, 2.0], "rewards must be of decisions that this agent has made, got '9'"),
        (["1", "1"], [1.0, 2.0], "rewards must not change: decision '1' has the reward 1.0"),
        (["1"], ["many"], "reward must be a number"),
    ],
)
def test_a_file_that_is_wrong_teaches_nothing(agent, ids, values, message):
    saved = agent.read_bytes()
    result = _run(agent, ids, values)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert agent.read_bytes() == saved
