"""`python -m hierbandits` is the command."""

import pytest
from support.processes import command, python

import hierbandits


def test_python_m_answers_as_the_command():
    result = python("-m", "hierbandits", "--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"hierbandits {hierbandits.__version__}\n"
    listed, also_listed = python("-m", "hierbandits", "policies"), command("policies")
    assert listed.returncode == 0
    assert "HierTS" in listed.stdout
    assert listed.stdout == also_listed.stdout


@pytest.mark.parametrize("arguments", [["nope"], ["bound", "--task-std", "0"]])
def test_python_m_fails_as_the_command(arguments):
    result, expected = python("-m", "hierbandits", *arguments), command(*arguments)
    assert result.returncode == expected.returncode == 2
    assert result.stderr == expected.stderr != ""  # where it says "Usage: hierbandits", too


def test_importing_it_runs_nothing():
    result = python("-c", "import hierbandits.__main__")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
