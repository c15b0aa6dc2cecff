"""A folder holds one run: another one is refused before the work, unless it may overwrite."""

import json

import polars as pl
import pytest
from support.learn_logs import drawn
from typer.testing import CliRunner

from hierbandits.cli import app
from hierbandits.reporting.report import Report


@pytest.fixture
def run(tmp_path):
    rows = drawn(34, armed=True, tasks=6, events=12)
    rows.frame().write_csv(tmp_path / "log.csv")

    def run(*more, log="log.csv", out="out"):
        named = ["--task", "store", "--arm", "promo", "--reward", "revenue", "--runs", 0]
        named += ["--held-out", 0, "--structure", "scalar", "--quiet", "--out", tmp_path / out]
        words = ["learn", tmp_path / log, *named, *more]
        return CliRunner().invoke(app, list(map(str, words)))

    return run


def test_another_run_is_refused_before_the_work(run, tmp_path):
    assert run().exit_code == 0
    known = json.loads((tmp_path / "out" / "settings.json").read_text())["run"]
    assert (known["command"], known["task"]) == ("learn", "store")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    pl.DataFrame({"broken": [1]}).write_csv(tmp_path / "other.csv")
    refused = run("--seed", 3, log="other.csv")
    assert refused.exit_code == 2
    line = " ".join(refused.stderr.split())
    assert "--out must be a new folder, or hold the same run" in line
    assert f"log = ['{tmp_path / 'log.csv'}'], seed = 0: " in line
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_the_same_run_and_an_allowed_one_take_the_place(run, tmp_path):
    assert run().exit_code == 0
    assert run("--agent", tmp_path / "agent.hb").exit_code == 0  # no part of the report
    assert run("--seed", 3, "--overwrite").exit_code == 0
    known = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert known["run"]["seed"] == known["seed"] == 3


def test_a_report_of_nobody_knows_is_another_run(run, tmp_path):
    Report("mine", "Mine", {}).write(tmp_path / "out")
    refused = run()
    assert refused.exit_code == 2
    assert "which holds a report of another run" in " ".join(refused.stderr.split())
    assert run("--overwrite").exit_code == 0
