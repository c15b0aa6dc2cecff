"""A file of one's own: its policies, worlds and experiments are known by name."""

import json
import sys

import pytest
from support.own_file import TEXT
from support.processes import command
from typer import Exit
from typer.testing import CliRunner

from hierbandits import POLICIES
from hierbandits.cli import app
from hierbandits.cli.own_file import OwnFile
from hierbandits.experiments import EXPERIMENTS, WORLDS


@pytest.fixture(autouse=True)
def path_as_before(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_names_of_the_package_and_of_the_file(tmp_path):
    file = tmp_path / "my_own_file.py"
    file.write_text(TEXT)
    own, without = OwnFile(file), OwnFile(None)
    assert list(own.policies) == [*POLICIES, "AtRandom"]
    assert list(own.worlds) == [*WORLDS, "stores"]
    assert list(own.experiments) == [*EXPERIMENTS, "stores"]
    assert (list(without.policies), list(without.worlds)) == (list(POLICIES), list(WORLDS))
    chosen = own.chosen("--policy", ["TS, AtRandom", "HierTS"], own.policies)
    assert list(chosen) == ["TS", "AtRandom", "HierTS"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a_b.py", None, "--from must be a Python file"),
        ("my-file.py", "POLICIES = {}", "--from must be a Python file"),
        ("json.py", "POLICIES = {}", "--from must have a name that no other module has"),
        ("own_1.py", "x = 1", "--from must have POLICIES, WORLDS or EXPERIMENTS"),
        ("own_2.py", "POLICIES = []", "must have POLICIES as a mapping from names, got []"),
        ("own_3.py", "POLICIES = {'TS': 3}", "names of its own in POLICIES, got 'TS'"),
        ("own_4.py", "WORLDS = {'mine': 3}", "other values in WORLDS, got 3 as 'mine'"),
        ("own_5.py", "\nx = 1 / 0", "own_5.py, line 2: ZeroDivisionError: division by zero"),
        ("own_6.py", "def f(:", "SyntaxError"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path, capsys, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(Exit) as stop:
        OwnFile(tmp_path / name)
    assert stop.value.exit_code == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert len(printed.splitlines()) == 1


def test_an_unknown_name_is_refused(capsys):
    own = OwnFile(None)
    with pytest.raises(Exit):
        own.chosen("--policy", ["Best"], own.policies)
    assert "--policy must be among HierTS, " in capsys.readouterr().err


def test_an_experiment_of_ones_own_by_command(tmp_path):
    """In processes of its own, which must find the file too."""
    file = tmp_path / "my_own_stores.py"
    file.write_text(TEXT)
    words = ["reproduce", "stores", "--from", file, "--policies", "AtRandom", "--runs", "4"]
    result = command(*words, "--jobs", "2", "--out", tmp_path / "out", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert [row["policy"] for row in rows] == ["HierTS", "AtRandom"]
    listed = CliRunner().invoke(app, ["reproduce", "--from", str(file), "--json"])
    assert json.loads(listed.stdout)["stores"] == "stores that price together"
