"""The command `hierbandits decide`: a file of tasks becomes a file of decisions, once."""

import json
import os
import signal
import subprocess
import sys

import polars as pl
import pytest
from support.agents import ARMED
from support.processes import COMMAND, command
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app


@pytest.fixture
def files(tmp_path):
    hb.Agent(ARMED, arms=["x", "y", "z"], seed=0, draws=4).save(tmp_path / "agent.hb")
    pl.DataFrame({"store": ["a", "b", "c"]}).write_parquet(tmp_path / "tasks.parquet")
    return [tmp_path / "agent.hb", tmp_path / "tasks.parquet", "--task", "store", "--out"]


def _run(*arguments):
    result = CliRunner().invoke(app, ["decide", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_decisions_by_command(files, tmp_path):
    out = tmp_path / "[d].csv"
    first, again = _run(*files, out), _run(*files, out)
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert first.output == f"3 decisions, 3 tasks are new: {out}\n"
    assert again.output == f"Decided before: {out} has these 3 decisions already\n"
    assert pl.read_csv(out, glob=False)["store"].to_list() == ["a", "b", "c"]
    out.unlink()
    assert _run(*files, out).output == f"Decided before: 3 decisions, written again to {out}\n"


def test_the_answer_as_json_or_not_at_all(files, tmp_path):
    told = json.loads(_run(*files, tmp_path / "d.csv", "--json").stdout)
    ids = pl.read_csv(tmp_path / "d.csv")["decision"].to_list()
    assert ids == [f"{told['key']}-{row}" for row in range(3)]
    del told["key"]
    assert told == {
        "decisions": 3,
        "new_tasks": 3,
        "made_before": False,
        "written": True,
        "out": str(tmp_path / "d.csv"),
    }
    assert _run(*files, tmp_path / "e.csv", "--quiet").output == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"out": "d.txt"}, "out must end in .parquet or .csv"),
        ({"task": "shop"}, "task must be one of the columns ['store'], got 'shop'"),
        ({"agent": "tasks.parquet"}, "is not a sound agent file"),
        ({"agent": "none.hb"}, "No such file"),
        ({"out": "agent.hb"}, "out must end in"),
    ],
)
def test_errors_are_one_line(files, tmp_path, change, message):
    agent = tmp_path / change.get("agent", "agent.hb")
    out = tmp_path / change.get("out", "d.csv")
    result = _run(agent, files[1], "--task", change.get("task", "store"), "--out", out)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert not (tmp_path / "d.csv").exists()


def test_a_command_that_is_killed_is_run_again(files, tmp_path):
    """Killed for real, as soon as the agent's file is replaced: before, between or after."""
    agent, out = files[0], tmp_path / "d.csv"
    before = agent.stat().st_ino
    words = [COMMAND, "decide", *files, out]
    path = os.pathsep.join(part for part in sys.path if part)
    child = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": path})
    while agent.stat().st_ino == before and child.poll() is None:
        pass
    child.send_signal(signal.SIGKILL)
    child.wait()
    again = command("decide", *files, out)
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("Decided before: ")
    made = [decision.id for decision in hb.Agent.load(agent).pending]
    assert pl.read_csv(out)["decision"].to_list() == made
    assert len(made) == 3


def test_limits_of_the_agent_change_for_good(files, tmp_path):
    hb.Agent.load(files[0], limits=hb.Limits(pending=2, cells=10**6)).save(files[0])
    told = _run(*files, tmp_path / "d.csv")
    assert told.exit_code == 2
    assert "(limits.pending)" in " ".join(told.output.split())
    assert _run(*files, tmp_path / "d.csv", "--limit", "pending=5").exit_code == 0
    limits = hb.Agent.load(files[0])._state.limits
    assert (limits.pending, limits.cells) == (5, 10**6)
    assert "--limit must be NAME=NUMBER" in _run(*files, "x", "--limit", "pending").output
