"""Shells complete the names of commands, policies and experiments."""

import pytest
from support.processes import command

from hierbandits import POLICIES
from hierbandits.cli.completion import experiment_names, policy_names
from hierbandits.experiments import EXPERIMENTS


def test_names_that_begin_so():
    assert [name for name, _ in policy_names("")] == list(POLICIES)
    assert policy_names("Pooled") == [("PooledTS", POLICIES["PooledTS"].summary)]
    assert [name for name, _ in experiment_names("s")] == [
        name for name in EXPERIMENTS if name.startswith("s")
    ]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("hierbandits polici", "policies"), ("hierbandits evaluate log.csv --policy Poo", "PooledTS")],
)
def test_a_shell_completes(typed, expected):
    words = {"_HIERBANDITS_COMPLETE": "complete_bash", "COMP_WORDS": typed}
    result = command(**words, COMP_CWORD=str(len(typed.split()) - 1))
    assert result.stdout.split() == [expected]
