"""The command `hierbandits sweep`: worlds, schedules and policies, one table."""

import json

import polars as pl
from support.own_file import TEXT
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app
from hierbandits.experiments import WORLDS

SMALL = ["--runs", 3, "--interactions", 4, "--jobs", 1, "--seed", 2]


def _run(*arguments):
    result = CliRunner().invoke(app, ["sweep", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_sweep_by_command(tmp_path):
    out = tmp_path / "out"
    named = ["--world", "arms,paper-a", "--schedule", "federated", "--policy", "HierTS,TS"]
    told = json.loads(_run(*named, *SMALL, "--out", out, "--json").stdout)
    worlds = {name: WORLDS[name] for name in ("arms", "paper-a")}
    swept = hb.sweep(worlds, ["HierTS", "TS"], ["federated"], 3, 2, num_interactions=4)
    apart = [
        [{name: cell for name, cell in row.items() if name != "seconds"} for row in rows]
        for rows in (told["rows"], swept.rows())
    ]
    assert apart[0] == apart[1]
    assert told["files"] == {"page": str(out / "report.html")}
    assert pl.read_parquet(out / "sweep.parquet").height == 4
    assert (out / "sweep.png").exists()


def test_a_world_and_a_policy_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "my_own_sweep.py"
    file.write_text(TEXT)
    named = ["--from", file, "--world", "stores", "--policy", "AtRandom"]
    result = _run(*named, *SMALL, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "AtRandom" in result.stdout
    assert f"Table: {tmp_path / 'out' / 'sweep.parquet'}" in result.stdout


def test_errors_are_one_line(tmp_path):
    for named, message in (
        (["--world", "mars"], "--world must be among paper-a, paper-b, arms, got 'mars'"),
        (["--schedule", "never"], "--schedule must be among sequential, "),
        (["--from", tmp_path / "none.py"], "--from must be a Python file"),
    ):
        result = _run(*named, *SMALL, "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert message in result.stderr
        assert not (tmp_path / "out").exists()
