"""How commands answer: every one of them takes --json and --quiet."""

import json

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app
from hierbandits.cli.answer import Answer
from hierbandits.experiments import EXPERIMENTS


def _commands(group, *path):
    """All commands, also those of groups, as the words that call them."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, *path, name)
        else:
            yield " ".join((*path, name))


COMMANDS = list(_commands(get_command(app)))


def _run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "serve"])
def test_every_command_is_for_programs_too(command):
    """But `serve`, which runs on: all that it says is JSON.  A new token is always told."""
    told = _run(*command.split(), "--help").output
    assert "--json" in told
    assert ("--quiet" in told) == (command != "token create")
    assert "<bool>" not in told
    options = [line for line in told.splitlines() if line.startswith("│") and "--" in line[:8]]
    assert not any("list[" in line for line in options)


def test_lists_and_bounds_as_json():
    policies = json.loads(_run("policies", "--json").stdout)
    assert policies == {name: recipe.summary for name, recipe in hb.POLICIES.items()}
    assert json.loads(_run("reproduce", "--json").stdout).keys() == EXPERIMENTS.keys()
    rows = json.loads(_run("bound", "--armed", "--json").stdout)
    sides = hb.bounds.side_by_side(
        hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.1, noise_std=0.5), 10, 200
    )
    assert rows == {label: {**values, "meaning": meaning} for label, values, meaning in sides}
    for quiet in (("policies",), ("reproduce",), ("bound",)):
        result = _run(*quiet, "--quiet")
        assert (result.exit_code, result.output) == (0, "")


def test_an_answer_is_json_or_shown_or_nothing(capsys):
    def fail():
        raise AssertionError("this must not be asked for")

    Answer(as_json=True, quiet=True).give(lambda: {"mean": float("nan"), "task": "Café"}, fail)
    assert json.loads(capsys.readouterr().out) == {"mean": None, "task": "Café"}
    Answer(as_json=False, quiet=True).give(fail, fail)
    seen = []
    Answer(as_json=False, quiet=False).give(fail, lambda: seen.append(1))
    assert seen == [1]
    assert (Answer(False, True).progress, Answer(True, False).progress) == (False, None)
