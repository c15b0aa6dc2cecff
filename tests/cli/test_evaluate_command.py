"""The command `hierbandits evaluate`: its folder, its table, its one-line errors."""

import json

import numpy as np
import polars as pl
import pytest
from support.context_worlds import context_log
from support.logged import World
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits import evaluate
from hierbandits.cli import app

COLUMNS = ["--task", "task", "--arm", "arm", "--reward", "reward"]
KNOWN = [*COLUMNS, "--propensity", "p"]


def _run(*arguments):
    """The exit status and all that was printed, in one line."""
    result = CliRunner().invoke(
        app,
        ["evaluate", "--overwrite", *map(str, arguments)],
        env={"COLUMNS": "200", "TERM": "dumb"},
    )
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def world():
    return World.drawn(np.random.default_rng(0))


@pytest.fixture(scope="module")
def file(world, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.parquet"
    world.rows(np.random.default_rng(1), 600).write_parquet(path)
    return path


@pytest.fixture(scope="module")
def folder(file, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    policies = ["HierTS", "HierOPO", "greedy", "uniform", "arm:a1"]
    options = [part for name in policies for part in ("--policy", name)]
    code, output = _run(file, *KNOWN, *options, "--out", out, "--seed", 3, "--confidence", 0.9)
    assert code == 0, output
    return out, output


def test_it_says_what_it_does_and_why(folder):
    _, output = folder
    assert "Frozen policies have fixed probabilities" in output
    assert "Learning policies change with what they see, so they are replayed" in output
    assert "cross-fitted in 5 folds" in output
    assert "Estimates, ± 90 % intervals" in output
    assert output.index("logged mean") < output.index("HierOPO DR") < output.index("HierOPO IPS")
    assert output.index(" per decision") < output.index("logged mean")  # the verdict
    assert "HierOPO's arms" in output


def test_its_folder_is_complete_and_agrees_with_the_function(folder, file, world):
    out, output = folder
    settings = json.loads((out / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in out.iterdir())
    assert settings["seed"] == 3
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "Estimates, ± 90 % intervals" in page
    for name in ("differences", "estimates", "tasks"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    from hierbandits import Columns, Log

    log = Log.read(file, Columns(task="task", arm="arm", reward="reward", propensity="p"))
    policies = ["HierTS", "HierOPO", "greedy", "uniform", "arm:a1"]
    evaluation = evaluate(log, policies, seed=3, confidence=0.9)
    assert pl.read_parquet(out / "estimates.parquet").equals(evaluation.frame())
    assert pl.read_parquet(out / "tasks.parquet").equals(evaluation.task_frame())
    rows = json.loads((out / "summary.json").read_text())
    assert [(row["policy"], row["method"], row["value"]) for row in rows] == [
        (one.policy, one.method, one.value) for one in evaluation.estimates
    ]
    assert rows[1]["diagnostics"]["rows"] == 600
    one = evaluation["greedy", "dr"]
    assert f"{one.value:.3f}" in output
    arms = pl.read_parquet(out / "hieropo.parquet")
    assert arms.columns == ["task", "arm", "mean", "regret_bound", "plays", "rows"]
    assert arms.height == 6


def test_defaults_priors_and_features_from_files(file, world, tmp_path):
    out = tmp_path / "out"
    code, output = _run(file, *KNOWN, "--out", out)
    assert code == 0
    for name in ("best arm", "HierTS", "HierOPO", "greedy", "uniform"):
        assert f" {name} " in output
    summary = json.loads((out / "summary.json").read_text())
    (row,) = (row for row in summary if (row["policy"], row["method"]) == ("greedy", "dr"))
    assert [each["against"] for each in row["differences"]] == ["logged", "best arm"]
    prior = tmp_path / "prior.json"
    apart = world.prior(hyper_mean=[0.0, 0.5, 1.0]).to_dict()
    prior.write_text(json.dumps(apart))
    code, output = _run(file, *KNOWN, "--out", out, "--prior", prior, "--policy", "greedy")
    assert code == 2
    assert "the log must say which is which" in output
    code, _ = _run(
        file,
        *KNOWN,
        "--out",
        out,
        "--prior",
        prior,
        "--arms",
        "a0",
        "--arms",
        "a1",
        "--arms",
        "a2",
        "--policy",
        "greedy",
    )
    assert code == 0
    prior.write_text(json.dumps(apart | {"arms": ["a0", "a1", "a2"]}))
    code, _ = _run(file, *KNOWN, "--out", out, "--prior", prior, "--policy", "greedy")
    assert code == 0
    made_from = json.loads((out / "settings.json").read_text())["made_from"]
    assert [facts["name"] for facts in made_from["files"]] == [str(file), str(prior)]
    assert all(len(facts["sha256"]) == 64 for facts in made_from["files"])
    features = tmp_path / "features.json"
    features.write_text(json.dumps({"a0": [1.0, 0.0], "a1": [0.0, 1.0], "a2": [1.0, 1.0]}))
    code, output = _run(
        file, *KNOWN, "--out", out, "--arm-features", features, "--policy", "HierOPO"
    )
    assert code == 0


def test_contexts_by_command(tmp_path):
    path, out = tmp_path / "log.csv", tmp_path / "out"
    context_log(1, count=300, stores=3)[1].write_csv(path)
    named = ["--task", "store", "--arm", "promo", "--reward", "revenue", "--propensity", "p"]
    policies = ["--policy", "best arm", "--policy", "HierOPO", "--folds", 2, "--out", out]
    code, output = _run(path, *named, "--features", "age,city", *policies)
    assert code == 0, output
    assert "HierOPO would earn" in output
    settings = json.loads((out / "settings.json").read_text())
    assert settings["made_from"]["columns"]["features"] == ["age", "city"]
    assert not (out / "hieropo.parquet").exists()  # no arm is a task's
    code, output = _run(path, *named, "--features", "age", "--features", "nope", "--out", out)
    assert code == 2
    assert "columns must be in the log, got 'nope'" in output


WRONG = {
    "IPS of a learning policy": (["--policy", "HierTS", "--method", "ips"], "learns as it goes"),
    "an unknown policy": (["--policy", "Best"], "policy must be one of"),
    "an unknown arm": (["--policy", "arm:zz"], "must name an arm of the log"),
    "a confidence": (["--confidence", "1.5"], "confidence must be in (0, 1), got 1.5"),
    "a missing column": (["--eligible", "nope"], "columns must be in the log, got 'nope'"),
    "a file of priors": (["--prior", "nowhere.json"], "--prior must be a file with a hierarchy"),
    "a file of features": (["--arm-features", "no.json"], "--arm-features must be a JSON file"),
    "both": (["--uniform"], "uniform must be False"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_take_one_line_and_exit_with_two(case, file, tmp_path):
    options, message = WRONG[case]
    code, output = _run(file, *KNOWN, "--out", tmp_path / "x", *options)
    assert code == 2
    assert output.startswith("Error: ")
    assert message in output
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", ["--prior", "--arm-features"])
def test_json_that_is_nested_deeply_is_one_error(option, file, tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    code, output = _run(file, *KNOWN, "--out", tmp_path / "x", option, tmp_path / "deep.json")
    assert code == 2
    assert output.startswith(f"Error: {option} must be a")


def test_a_log_that_cannot_be_read_is_one_error(tmp_path):
    code, output = _run(tmp_path / "no.parquet", *KNOWN, "--out", tmp_path / "x")
    assert (code, "source must be a file" in output) == (2, True)
    bad = tmp_path / "bad.csv"
    bad.write_text("task,arm,reward,p\nt,a,1.0,0.5\nt,b,nan,0.5\n")
    code, output = _run(bad, *KNOWN, "--out", tmp_path / "x")
    assert code == 2
    assert "reward" in output
    assert "at row 1" in output
    code, output = _run(bad, *COLUMNS, "--propensity", "reward", "--out", tmp_path / "x")
    assert code == 2


def test_help_teaches():
    code, output = _run("--help")
    assert code == 0
    for word in ("Frozen policies", "Learning policies", "--propensity", "--uniform", "Example:"):
        assert word in output


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_integer_arms_are_named_as_the_column_has_them(ending, world, tmp_path):
    rows = world.rows(np.random.default_rng(6), 300).drop("eligible")
    rows = rows.with_columns(pl.col("arm").str.slice(1).cast(pl.Int64))
    path, prior, features = (tmp_path / name for name in (f"log.{ending}", "p.json", "f.json"))
    getattr(rows, f"write_{ending}")(path)
    apart = world.prior(hyper_mean=[0.0, 0.5, 1.0]).to_dict()
    prior.write_text(
        json.dumps(apart | {"arms": ["2", "1", "0"] if ending == "parquet" else [2, 1, 0]})
    )
    features.write_text(json.dumps({"0": [1.0, 0.0], "1": [0.0, 1.0], "2": [1.0, 1.0]}))
    fixed = ["--arms", "2", "--arms", "0", "--arms", "1"]
    for options in (fixed, ["--prior", prior], ["--arm-features", features]):
        out = tmp_path / "out"
        code, output = _run(path, *KNOWN, "--policy", "HierOPO", "--out", out, *options)
        assert code == 0, output
    code, output = _run(path, *KNOWN, "--arms", "0", "--arms", "1", "--out", tmp_path / "x")
    assert (code, "arm must be one of" in output) == (2, True)
    prior.write_text(json.dumps(apart | {"arms": 3}))
    code, output = _run(path, *KNOWN, "--prior", prior, "--out", tmp_path / "x")
    assert (code, "arms must be several names, got 3" in output) == (2, True)


def test_a_prior_learned_by_command_is_at_hand_for_another_log(file, world, tmp_path):
    learned, out = tmp_path / "learned", tmp_path / "out"
    arguments = ["learn", str(file), *COLUMNS, "--runs", "0", "--out", str(learned)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    prior, other = learned / "prior.json", tmp_path / "other.csv"
    world.rows(np.random.default_rng(7), 300).drop("eligible").write_csv(other)
    code, output = _run(other, *KNOWN, "--policy", "HierOPO", "--prior", prior, "--out", out)
    assert code == 0, output
    code, output = _run(file, *KNOWN, "--policy", "HierOPO", "--prior", prior, "--out", out)
    assert code == 2
    assert "prior must not be learned from the log that it is evaluated on" in output
    assert (
        json.loads((out / "settings.json").read_text())["arms"]
        == json.loads(prior.read_text())["arms"]
    )


@pytest.mark.parametrize("command", ["learn", "evaluate"])
@pytest.mark.parametrize("stop", [ValueError("no"), KeyboardInterrupt()])
def test_no_empty_folder_is_left_behind(command, stop, file, tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise stop

    monkeypatch.setattr(hb, "evaluate", stopped)
    monkeypatch.setattr(hb, "learn_prior", stopped)
    out = tmp_path / "a" / "b" / "out"
    result = CliRunner().invoke(app, [command, str(file), *COLUMNS, "--out", str(out)])
    assert result.exit_code == (2 if isinstance(stop, ValueError) else 130)
    assert not (tmp_path / "a").exists()
    (tmp_path / "a" / "b").mkdir(parents=True)
    CliRunner().invoke(app, [command, str(file), *COLUMNS, "--out", str(out)])
    assert [*(tmp_path / "a").rglob("*")] == [tmp_path / "a" / "b"]
