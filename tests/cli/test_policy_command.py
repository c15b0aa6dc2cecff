"""The commands `hierbandits policy`, on a folder that no service uses."""

import json
import time

import pytest
from support.agents import ARMED
from support.logged_worlds import LoggedWorld, sure_of
from support.processes import interrupted
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "data").mkdir()

    def run(*words, **more):
        data = ["--data", str(tmp_path / "data")]
        result = CliRunner().invoke(app, ["policy", *map(str, words), *data], **more)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


def test_a_policy_is_created_changed_shown_and_deleted(policy):
    assert policy("list").stdout.startswith("No policies yet")
    arms = ["--arm", "x", "--arm", "y"]
    assert policy("create", "shop", *arms).stdout == "Policy shop is new\n"
    assert policy("create", "shop", *arms).stdout == "Policy shop has version 1\n"
    changed = policy("create", "shop", *arms, "--set", "floor=0.05", "--set", "rewards=bernoulli",
                     "--set", "sticky=true", "--json")  # fmt: skip
    assert json.loads(changed.stdout) == {"name": "shop", "version": 2, "created": False}
    assert policy("list").stdout.splitlines()[1].split() == ["shop", "2", "0", "0", "0"]
    shown = policy("show", "shop").stdout
    assert "arms     x, y\n" in shown
    assert '"floor": 0.05' in shown
    told = json.loads(policy("show", "shop", "--json").stdout)
    assert (told["version"], told["settings"]["rewards"], told["settings"]["sticky"]) == (
        2, "bernoulli", True,
    )  # fmt: skip
    assert policy("delete", "shop", input="n\n").exit_code == 1
    assert len(json.loads(policy("list", "--json").stdout)) == 1
    assert policy("delete", "shop", "--yes").exit_code == 0
    assert json.loads(policy("list", "--json").stdout) == []


def test_a_prior_and_settings_from_files(policy, tmp_path):
    ARMED.save(tmp_path / "prior.json")
    (tmp_path / "settings.json").write_text(json.dumps({"draws": 20, "floor": 0.5}))
    made = policy(
        "create", "ward", "--prior", tmp_path / "prior.json", "--settings",
        tmp_path / "settings.json", "--arm", "a", "--arm", "b", "--arm", "c", "--set", "floor=0.1",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    told = json.loads(policy("show", "ward", "--json").stdout)
    assert (told["settings"]["draws"], told["settings"]["floor"]) == (20, 0.1)
    assert told["settings"]["prior"]["noise_std"] == ARMED.noise_std


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create", "shop", "--set", "floor"], "--set must be NAME=VALUE, got 'floor'"),
        (["create", "shop", "--set", "floor=2"], "floor must be in [0, 1], got 2"),
        (["create", "shop", "--set", "flor=2"], "flor"),
        (["create", "..", "--arm", "x"], "policy must be a name, got '..'"),
        (["create", "a b", "--arm", "x"], "name must be letters"),
        (["create", "shop", "--settings", "none.json"], "--settings must be a JSON file"),
        (["create", "shop", "--prior", "none.json"], "--prior must be a JSON file, got none.json"),
        (["show", "nothing"], "policy 'nothing' is not known"),
    ],
)
def test_what_is_wrong_is_one_line(policy, words, message):
    result = policy(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_policy_moves_as_a_file(policy, tmp_path):
    policy("create", "shop", "--arm", "x", "--arm", "y", "--set", "floor=0.05")
    file = tmp_path / "shop.policy"
    assert policy("export", "shop", "--out", file).exit_code == 0
    assert "--out must be a new file" in policy("export", "shop", "--out", file).stderr
    assert policy("import", "other", file).stdout == "Policy other is new\n"
    assert json.loads(policy("show", "other", "--json").stdout)["settings"]["floor"] == 0.05
    assert policy("import", "other", file).exit_code == 2  # the name is taken
    file.write_bytes(b"not a policy")
    assert "archive must be of a policy or an agent" in policy("import", "third", file).stderr


def test_an_agents_file_becomes_a_policy(policy, tmp_path):
    agent = hb.Agent(ARMED, arms=["x", "y", "z"], seed=0)
    agent.reward(agent.decide("north").id, 1.0)
    agent.save(tmp_path / "agent.hb")
    assert policy("import", "ward", tmp_path / "agent.hb").exit_code == 0
    told = json.loads(policy("show", "ward", "--json").stdout)
    assert (told["arms"], told["tasks"], told["rewards"]) == (["x", "y", "z"], 1, 1)


def test_a_candidate_is_judged_by_the_log(policy, tmp_path):
    (tmp_path / "data").rmdir()
    LoggedWorld(tmp_path / "data", rounds=30).close()
    told = policy("evaluate", "shop", "--rule", "HierGreedy", "--set", "floor=0.0")
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert text.startswith("The candidate would earn 0.")
    assert "policy mean reward over the log over the best arm" in text
    assert "best arm (x)" in text
    words = ["--prior", tmp_path / "prior.json", "--set", "floor=0", "--confidence", "0.8"]
    (tmp_path / "prior.json").write_text(json.dumps(sure_of(2)))
    told = json.loads(policy("evaluate", "shop", *words, "--json").stdout)
    assert (told["better_than_log"], told["confidence"]) == (False, 0.8)
    assert told["policies"][0]["over_log"]["high"] < 0


def test_what_cannot_be_judged_is_one_line(policy):
    policy("create", "shop", "--arm", "x", "--arm", "y")
    for words, message in (
        ((), "at least 20 rewarded decisions with propensities must be in the log, got 0 of 0"),
        (("--rule", "Nobody"), "rule must be one of"),
        (("--set", "sticky=true"), "unknown field `sticky`"),
        (("--confidence", "2"), "confidence must be in (0, 1), got 2"),
    ):
        result = policy("evaluate", "shop", *words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_ctrl_c_ends_an_evaluation_and_leaves_nothing(policy, tmp_path):
    data = tmp_path / "data"
    data.rmdir()
    LoggedWorld(data, rounds=5).close()
    files = data / "evaluations"
    words = ("policy", "evaluate", "shop", "--data", str(data))
    status, message = interrupted(*words, once=lambda: list(files.glob("*")))
    assert status == 130, message
    assert "Traceback" not in message
    deadline = time.monotonic() + 60  # its process may have to start before it can end
    while list(files.glob("*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert policy("show", "shop").exit_code == 0
