"""The command `hierbandits evaluate`: its folder, its table, its one-line errors."""

import json

import numpy as np
import polars as pl
import pytest
from support.logged import World
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits import evaluate
from hierbandits.cli import app
from hierbandits.evaluation.evaluation_figures import drawn_methods, estimates_figure, tasks_figure

COLUMNS = ["--task", "task", "--arm", "arm", "--reward", "reward"]
KNOWN = [*COLUMNS, "--propensity", "p"]


def _run(*arguments):
    """The exit status and all that was said, in one line."""
    result = CliRunner().invoke(
        app, ["evaluate", *map(str, arguments)], env={"COLUMNS": "200", "TERM": "dumb"}
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
    code, said = _run(file, *KNOWN, *options, "--out", out, "--seed", 3, "--confidence", 0.9)
    assert code == 0, said
    return out, said


def test_it_says_what_it_does_and_why(folder):
    _, said = folder
    assert "Frozen policies have fixed probabilities" in said
    assert "Learning policies change with what they see, so they are replayed" in said
    assert "cross-fitted in 5 folds" in said
    assert "Estimates, ± 90 % intervals" in said
    assert said.index("logged mean") < said.index("HierOPO IPS")
    assert "HierOPO's arms" in said


def test_its_folder_is_complete_and_agrees_with_the_function(folder, file, world):
    out, said = folder
    settings = json.loads((out / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in out.iterdir())
    assert settings["seed"] == 3
    page = (out / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert "Estimates, ± 90 % intervals" in page
    for name in ("estimates", "tasks"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / f"{name}.svg").read_text()
    from hierbandits import Columns, Log

    log = Log.read(file, Columns(task="task", arm="arm", reward="reward", propensity="p"))
    policies = ["HierTS", "HierOPO", "greedy", "uniform", "arm:a1"]
    found = evaluate(log, policies, seed=3, confidence=0.9)
    assert pl.read_parquet(out / "estimates.parquet").equals(found.frame())
    assert pl.read_parquet(out / "tasks.parquet").equals(found.task_frame())
    rows = json.loads((out / "summary.json").read_text())
    assert [(row["policy"], row["method"], row["value"]) for row in rows] == [
        (one.policy, one.method, one.value) for one in found.estimates
    ]
    assert rows[1]["diagnostics"]["rows"] == 600
    one = found["greedy", "dr"]
    assert f"{one.value:.3f}" in said
    arms = pl.read_parquet(out / "hieropo.parquet")
    assert arms.columns == ["task", "arm", "mean", "lower", "plays", "rows"]
    assert arms.height == 6


def test_defaults_priors_and_features_from_files(file, world, tmp_path):
    out = tmp_path / "out"
    code, said = _run(file, *KNOWN, "--out", out)
    assert code == 0
    for name in ("HierTS", "HierOPO", "greedy", "uniform"):
        assert f" {name} " in said
    prior = tmp_path / "prior.json"
    apart = world.prior(hyper_mean=[0.0, 0.5, 1.0]).to_dict()
    prior.write_text(json.dumps(apart))
    code, said = _run(file, *KNOWN, "--out", out, "--prior", prior, "--policy", "greedy")
    assert code == 2
    assert "the log must say which is which" in said
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
    features = tmp_path / "features.json"
    features.write_text(json.dumps({"a0": [1.0, 0.0], "a1": [0.0, 1.0], "a2": [1.0, 1.0]}))
    code, said = _run(file, *KNOWN, "--out", out, "--arm-features", features, "--policy", "HierOPO")
    assert code == 0


WRONG = {
    "IPS of a learning policy": (["--policy", "HierTS", "--method", "ips"], "learns as it goes"),
    "an unknown policy": (["--policy", "Best"], "policy must be one of"),
    "an unknown arm": (["--policy", "arm:zz"], "must name an arm of the log"),
    "a confidence": (["--confidence", "1.5"], "confidence must be in (0, 1), got 1.5"),
    "a missing column": (["--eligible", "nope"], "columns must each occur once, got 'nope'"),
    "a file of priors": (["--prior", "nowhere.json"], "--prior must be a JSON file"),
    "both": (["--uniform"], "uniform must be False"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_take_one_line_and_exit_with_two(case, file, tmp_path):
    options, message = WRONG[case]
    code, said = _run(file, *KNOWN, "--out", tmp_path / "x", *options)
    assert code == 2
    assert said.startswith("Error: ")
    assert message in said
    assert not (tmp_path / "x").exists()


def test_a_log_that_cannot_be_read_is_one_error(tmp_path):
    code, said = _run(tmp_path / "no.parquet", *KNOWN, "--out", tmp_path / "x")
    assert (code, "source must be a file" in said) == (2, True)
    bad = tmp_path / "bad.csv"
    bad.write_text("task,arm,reward,p\nt,a,1.0,0.5\nt,b,nan,0.5\n")
    code, said = _run(bad, *KNOWN, "--out", tmp_path / "x")
    assert code == 2
    assert "reward" in said
    assert "at row 1" in said
    code, said = _run(bad, *COLUMNS, "--propensity", "reward", "--out", tmp_path / "x")
    assert code == 2


def test_help_teaches():
    code, said = _run("--help")
    assert code == 0
    for word in ("Frozen policies", "Learning policies", "--propensity", "--uniform", "Example:"):
        assert word in said


def test_many_tasks_are_drawn_by_their_rows(world):
    rng = np.random.default_rng(2)
    wide = World.drawn(rng, tasks=60)
    found = evaluate(wide.log(wide.rows(rng, 900)), ["uniform", "HierTS"], prior=wide.prior())
    assert drawn_methods(found) == [("uniform", "dr"), ("HierTS", "replay")]
    figure = tasks_figure(found)
    assert [len(axes.get_yticks()) for axes in figure.axes] == [40, 40]


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
        code, said = _run(path, *KNOWN, "--policy", "HierOPO", "--out", out, *options)
        assert code == 0, said
    code, said = _run(path, *KNOWN, "--arms", "0", "--arms", "1", "--out", tmp_path / "x")
    assert (code, "arm must be one of" in said) == (2, True)
    prior.write_text(json.dumps(apart | {"arms": 3}))
    code, said = _run(path, *KNOWN, "--prior", prior, "--out", tmp_path / "x")
    assert (code, "--prior must hold a list of arms if any, got 3" in said) == (2, True)


def test_a_prior_learned_by_command_is_at_hand_for_evaluation(file, tmp_path):
    learned, out = tmp_path / "learned", tmp_path / "out"
    arguments = ["learn", str(file), *COLUMNS, "--runs", "0", "--out", str(learned)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    prior = learned / "prior.json"
    code, said = _run(file, *KNOWN, "--policy", "HierOPO", "--prior", prior, "--out", out)
    assert code == 0, said
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


def test_an_interval_that_dwarfs_the_others_is_cut(world):
    rows = world.rows(np.random.default_rng(7), 400)
    for lift, cut in ((0.0, False), (1000.0, True)):  # IPS alone depends on it
        log = world.log(rows.with_columns(pl.col("reward") + lift))
        found = evaluate(log, ["HierOPO", "greedy"], prior=world.prior(hyper_mean=lift))
        left, right = estimates_figure(found).axes[0].get_xlim()
        ips, dr = found["HierOPO", "ips"], found["HierOPO", "dr"]
        assert left < dr.low < dr.high < right
        assert (ips.high - ips.low > right - left) == cut
        assert any("Very long" in part for part in found.report()._sections) == cut
