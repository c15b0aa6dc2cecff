"""`hierbandits inspect`: from a messy file to the command that goes on, and on."""

import json
import shlex

import numpy as np
import pytest
from support.messy_logs import MESSES, ROLES, as_text, messy_file, rows_of, write
from typer.testing import CliRunner

from hierbandits.cli import app

OPTIONS = [f"--{role}={column}" for role, column in ROLES.items()]


def _run(*words, width="160"):
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": width})


def test_a_log_without_roles_is_listed(tmp_path):
    path = write(tmp_path / "log.csv", as_text(rows_of(np.random.default_rng(0))))
    result = _run("inspect", path)
    assert result.exit_code == 0
    assert "Columns, 300 rows" in result.stdout
    assert f"Perhaps: hierbandits inspect {path} --task=store --arm=promo" in result.stdout


def test_a_shell_variable_that_is_not_set_is_refused():
    result = _run("inspect", "")
    assert result.exit_code == 2
    assert "source must be the path of a file or a folder, got ''" in result.stderr


def test_the_command_that_goes_on_goes_on(tmp_path):
    """From the first look to a report, with no step by hand."""
    path, out = tmp_path / "log.csv", tmp_path / "out"
    messy_file(5, MESSES, path)
    first = _run("inspect", path)
    proposed = shlex.split(first.stdout.rstrip().splitlines()[-1].removeprefix("Perhaps: "))
    looked = _run(*proposed[1:])
    assert looked.exit_code == 1
    assert "Problem: reward, column 'revenue'" in looked.stdout
    onward = shlex.split(looked.stdout.rstrip().splitlines()[-1].removeprefix("Go on with: "))
    assert _run("inspect", *onward[2:]).exit_code == 0
    assert onward[1] == "evaluate"
    refused = _run("evaluate", path, *OPTIONS, "--out", out)
    assert refused.exit_code == 2
    assert "at row" in refused.stderr
    done = _run(*onward[1:], "--policy=uniform", "--method=ips", "--out", out)
    assert done.exit_code == 0, done.stderr
    kept = json.loads((out / "settings.json").read_text())
    assert kept["reading"]["drop_missing"] is True
    assert kept["left_out"]["repeated"] == 8
    assert kept["rows"] == 308 - kept["left_out"]["repeated"] - sum(
        kept["left_out"]["missing"].values()
    )
    assert "rows left out" in (out / "report.html").read_text()


def test_json_is_for_programs(tmp_path):
    path = tmp_path / "log.csv"
    messy_file(6, ["empty_reward"], path)
    result = _run("inspect", path, *OPTIONS, "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["rows"], data["sound"]) == (300, False)
    fixed = _run("inspect", path, *OPTIONS, "--json", "--drop-missing")
    assert (fixed.exit_code, json.loads(fixed.stdout)["sound"]) == (0, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task=shop", "--arm=promo", "--reward=revenue"], "got 'shop', not among"),
        (["--task=store"], "task and reward must name columns"),
        (["--decimal=x"], "decimal must be '.' or ',', got 'x'"),
        (["--time-format=iso"], "time_format must be a form such as"),
    ],
)
def test_what_cannot_be_inspected_is_one_line(words, message, tmp_path):
    path = write(tmp_path / "log.csv", as_text(rows_of(np.random.default_rng(1), 20)))
    result = _run("inspect", path, *words)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert _run("inspect", tmp_path / "nowhere.csv").exit_code == 2


def test_several_files_and_decimal_commas(tmp_path):
    rows = rows_of(np.random.default_rng(2), 40)
    for row in rows:
        row[3] = row[3].replace(".", ",")
    one = write(tmp_path / "1.csv.gz", as_text(rows[:20], ";"))
    two = write(tmp_path / "2.csv", as_text(rows[20:], ";"))
    named = ["--task=store", "--arm=promo", "--reward=revenue"]
    result = _run("inspect", one, two, *named)
    assert "--decimal=, goes on" in result.stdout
    assert _run("inspect", one, two, *named, "--decimal=,").exit_code == 0
