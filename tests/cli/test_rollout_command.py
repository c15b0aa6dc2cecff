"""The commands `hierbandits rollout`, on a folder that no service uses."""

import json

import pytest
from typer.testing import CliRunner

from hierbandits.cli import app

GUARDRAILS = json.dumps([{"name": "errors", "at_most": 0.1}])


@pytest.fixture
def run(tmp_path):
    (tmp_path / "data").mkdir()

    def run(*words):
        data = ["--data", str(tmp_path / "data")]
        result = CliRunner().invoke(app, [*map(str, words), *data])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    words = ["--set", "control_arm=x", "--set", f"guardrails={GUARDRAILS}"]
    words += ["--set", "ratio_check=rewards"]
    assert run("policy", "create", "shop", "--arm", "x", "--arm", "y", *words).exit_code == 0
    return run


def test_a_ramp_is_started_held_resumed_and_rolled_back(run):
    steps = ["--step", "0.05:1h", "--step", ".5:2d", "--step", "1"]
    started = run("rollout", "start", "shop", *steps).stdout
    assert "'ramping': the policy decides for 5 % of tasks" in started
    assert "The next step, 50 %, begins at 20" in started
    assert "errors" in started
    told = json.loads(run("rollout", "hold", "shop", "--json").stdout)
    assert (told["phase"], told["steps"][1]) == ("held", {"share": 0.5, "seconds": 172800.0})
    assert "'ramping'" in run("rollout", "resume", "shop").stdout
    assert "0 % of tasks" in run("rollout", "rollback", "shop", "--reason", "why not").stdout
    shown = run("rollout", "show", "shop").stdout
    assert "expected" in shown
    assert run("rollout", "show", "shop", "--quiet").stdout == ""
    changes = json.loads(run("rollout", "audit", "shop", "--json").stdout)["changes"]
    assert [one["what"] for one in changes] == ["rollback", "resume", "hold", "ramp", "created"]
    assert {one["by"] for one in changes} == {"anonymous"}
    table = run("rollout", "audit", "shop", "--limit", 1).stdout
    assert "why not" in table
    assert "created" not in table


@pytest.mark.parametrize("step", ["", "x", "0.5:1", "0.5:1y", "-1", "0.5:", "1:h", "nan", "."])
def test_a_step_that_is_none_is_refused(run, step):
    result = run("rollout", "start", "shop", "--step", step)
    assert result.exit_code == 2
    assert "--step must be SHARE or SHARE:TIME" in result.stderr


def test_what_the_service_refuses_is_one_line(run):
    result = run("rollout", "hold", "shop")
    assert result.exit_code == 2
    assert "'none', start it" in result.stderr


def test_a_candidate_is_promoted_step_by_step(run):
    assert run("rollout", "promote", "shop").stdout == "No candidate\nNext: evaluate\n"
    refused = run("rollout", "promote", "shop", "shadow")
    assert refused.exit_code == 2
    assert "the next step is 'evaluate'" in refused.stderr
    done = run("rollout", "promote", "shop", "evaluate", "--set", "rule=HierTS", "--json")
    assert json.loads(done.stdout)["step"] == "evaluate"
    assert "Next: shadow" in run("rollout", "promote", "shop").stdout
    assert run("rollout", "promote", "shop", "ramp", "--step", "1").exit_code == 2
    assert run("rollout", "promote", "shop", "drop").stdout.startswith("No candidate")
