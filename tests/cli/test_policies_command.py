"""The command `hierbandits policies`."""

from support.processes import command

from hierbandits import POLICIES


def test_every_policy_is_listed_with_what_it_does():
    result = command("policies", COLUMNS="200")
    assert (result.returncode, result.stderr) == (0, "")
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    for name, recipe in POLICIES.items():
        assert lines[name].split(maxsplit=1)[1].strip() == recipe.summary
