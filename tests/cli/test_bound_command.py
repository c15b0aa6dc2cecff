"""The command `hierbandits bound`."""

import json

import pytest
from support.processes import command

from hierbandits import GaussianHierarchy, bounds


def test_help_names_the_options():
    result = command("bound", "--help")
    assert (result.returncode, result.stderr) == (0, "")
    for option in ("--tasks", "--concurrent", "--eta", "--prior"):
        assert f"\n│ {option} " in result.stdout


def test_the_bound_command_prints_every_term(tmp_path):
    prior = GaussianHierarchy.armed(3, hyper_std=0.7, task_std=0.2, noise_std=0.5)
    (tmp_path / "prior.json").write_text(json.dumps(prior.to_dict()))
    result = command(
        "bound", "--prior", str(tmp_path / "prior.json"), "--tasks", "20", "--concurrent", "4"
    )
    assert result.returncode == 0, result.stderr
    shown = _numbers(result)
    for place, constants in enumerate(("repaired", "paper")):
        bound = bounds.concurrent(prior, 20, 200, 4, constants=constants)
        for name in ("total", "task_regret", "hyper_regret", "concurrency_regret", "c4"):
            assert float(shown[name][place]) == pytest.approx(getattr(bound, name), rel=1e-3)
        alone = bounds.independent(prior, 20, 200, constants=constants).total
        assert float(shown["TS"][place]) == pytest.approx(alone, rel=1e-3)


def _numbers(result):
    """The two numbers of each row, by the row's name."""
    return {line.split()[0]: line.split()[1:3] for line in result.stdout.splitlines() if line}


@pytest.mark.parametrize("armed", [True, False])
def test_widths_and_sizes_are_options(armed):
    widths = {"hyper_std": 0.7, "task_std": 0.2, "noise_std": 0.4}
    form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
    bound = bounds.sequential(form(3, **widths), 7, 50, max_norm=1.0 if armed else 2.0)
    options = ["--features", "3", "--tasks", "7", "--interactions", "50"]
    options += [f"--{name.replace('_', '-')}={value}" for name, value in widths.items()]
    options += ["--armed"] if armed else ["--max-norm", "2.0"]
    result = command("bound", *options)
    assert result.returncode == 0, result.stderr
    assert float(_numbers(result)["total"][0]) == pytest.approx(bound.total, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--concurrent", "20", "--eta", "1"], "num_concurrent must be at most"),
        (["--task-std", "0"], "positive definite task_cov"),
        (["--prior", "nowhere.json"], "No such file"),
        (["--hyper-std", "-1"], "Invalid value for '--hyper-std'"),
        (["--task-std", "-1"], "Invalid value for '--task-std'"),
        (["--noise-std", "-1"], "Invalid value for '--noise-std'"),
    ],
)
def test_bad_commands_say_what_was_expected(arguments, message):
    result = command("bound", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
