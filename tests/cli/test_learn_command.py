"""The command `hierbandits learn`: its folder, what it prints, its one-line errors."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from support.click_logs import click_log
from support.learn_logs import drawn
from support.processes import command
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits import GaussianHierarchy
from hierbandits.cli import app
from hierbandits.service.policy_settings import PolicySettings

FIGURES = ["calibration", "evidence", "forest", "outliers", "regret", "shrinkage", "widths"]


def _run(*arguments):
    result = CliRunner().invoke(app, ["learn", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def agent_from_snippet(printed):
    """The agent that the lines of Python make that the command has printed, run as they are."""
    lines = printed[printed.index("    import hierbandits as hb") :].splitlines()
    names = {}
    exec("\n".join(line.strip() for line in lines), names)
    assert "decision" not in names or names["decision"].task in names["agent"].tasks
    return names["agent"]


def test_the_warfarin_trial_by_command(tmp_path):
    log = hb.datasets.warfarin().as_log(np.random.default_rng(0))
    path, out = tmp_path / "trial.parquet", tmp_path / "out"
    log.source.write_parquet(path)
    arguments = ["--task", "site", "--arm", "dose", "--reward", "reward", "--runs", "40"]
    arguments += [part for dose in ("low", "medium", "high") for part in ("--arms", dose)]
    made = ["--agent", tmp_path / "agent.hb"]
    result = command("learn", path, *arguments, "--seed", "3", "--out", out, *made)
    assert result.returncode == 0, result.stderr
    assert "tasks are alike but not equal" in result.stdout
    served = PolicySettings.from_json(b'{"prior": %s}' % (out / "prior.json").read_bytes())
    assert served.make_agent(lambda event: None, 0).arms == ("low", "medium", "high")
    assert "Rewards have two values" in " ".join(result.stdout.split())
    assert f"Report: {out / 'report.html'}\n" in result.stdout
    assert f"Start: {out / 'start.hb'}\n" in result.stdout
    settings = json.loads((out / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in out.iterdir())
    assert {f"{name}.png" for name in FIGURES} <= set(settings["files"])
    assert settings["command"].startswith(f"hierbandits learn {path} --task site --arm dose")
    page = (out / "report.html").read_text()
    assert f"<dd>{settings['command']}</dd>" in page
    (file,) = settings["made_from"]["files"]
    assert file["sha256"] == sha256(path.read_bytes()).hexdigest()
    for part in (file["sha256"], "arm: dose", "6,037 read; left out: none", settings["made"][:10]):
        assert part in page
    report = json.loads((out / "report.json").read_text())
    assert (report["rows"], report["tasks"], report["arms"]) == (
        6037,
        22,
        ["low", "medium", "high"],
    )
    assert report["comparison"]["best"] == "hierarchical"
    assert report["calibration"]["two_valued"]
    assert report["calibration"]["cells"]["count"] > 30
    # Doses were given at random, so that an arm's mean is the share of patients who needed it.
    counts = hb.datasets.warfarin().counts
    share = counts.sum(0) / counts.sum()
    np.testing.assert_allclose(report["prior"]["hyper_mean"], share, atol=0.1)
    assert tuple(agent_from_snippet(result.stdout).tasks) == hb.Start.load(out / "start.hb").tasks
    saved = hb.Agent.load(tmp_path / "agent.hb")
    assert saved.prior.arms == ("low", "medium", "high")
    assert saved.decide("new").propensity is not None
    agent = agent_from_snippet(result.stdout)
    assert agent.decide("new").arm in ("low", "medium", "high")
    assert len(agent.tasks) == 22 + 1
    again, from_log = hb.learn_prior(log, seed=3, runs=0)
    assert report["prior"] == again.to_dict()
    mean = hb.Agent(from_log.start).belief.hyper(0).mean
    np.testing.assert_allclose(agent.belief.hyper(0).mean, mean, rtol=1e-9)


def test_features_by_command(tmp_path):
    rows = drawn(34, armed=False, tasks=8, events=12, populations=2)
    path, out = tmp_path / "log.csv", tmp_path / "[out]"
    rows.frame().write_csv(path)
    named = ["--task", "store", "--reward", "revenue", "--population", "country"]
    named += [part for j in range(3) for part in ("--features", f"x{j}")]
    result = _run(path, *named, "--structure", "scalar", "--runs", 0, "--held-out", 0, "--out", out)
    assert result.exit_code == 0, result.output
    assert f"agent = hb.Agent(hb.Start.load({str(out / 'start.hb')!r}), seed=0)" in result.output
    assert hb.Start.load(out / "start.hb").prior.widths_known  # several populations
    report = json.loads((out / "report.json").read_text())
    assert report["similarity"]["coordinates"] == ["x0", "x1", "x2"]
    assert (report["calibration"], report["promises"]) == (None, None)
    assert not (out / "regret.png").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["nowhere.parquet"], "source must be a file, got 'nowhere.parquet'"),
        (["log.txt"], "source must"),
        (["--task", "nope"], "columns must be in the log, got 'nope'"),
        (["--features", "revenue"], "reward must have a column of its own"),
        (["--features", "store,age"], "columns must be in the log, got 'age'"),
        (["--held-out", "2"], "held_out must be a share of the rows"),
        (["--structure", "block"], "structure must be one of"),
        (["--noise-std", "0"], "noise_std must be positive"),
        (["--runs", "1"], "runs must be 0 or at least 2, got 1"),
        (["--reward", "store"], "reward must have a column of its own"),
        (["--arms", "a0"], "arm must be one of 'a0'"),
    ],
)
def test_bad_commands_end_in_one_line(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn(35, armed=True).frame().write_parquet("log.parquet")
    Path("log.txt").touch()
    options = {"--task": "store", "--arm": "promo", "--reward": "revenue", "--out": "out"}
    path = change[0] if len(change) == 1 else "log.parquet"
    options |= {} if len(change) == 1 else {change[0]: change[1]}
    result = _run(path, *(part for pair in options.items() for part in pair))
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr
    assert result.stdout == ""


def test_damaged_files_and_places_that_cannot_be_written_end_in_one_line(tmp_path):
    path = tmp_path / "log.parquet"
    drawn(35, armed=True).frame().write_parquet(path)
    named = ["--task", "store", "--arm", "promo", "--reward", "revenue"]
    blocked = _run(path, *named, "--out", path)
    assert blocked.exit_code == 2
    assert f"--out must be a folder that can be written, got {path}" in blocked.stderr
    path.write_bytes(path.read_bytes()[:300])
    damaged = _run(path, *named, "--out", tmp_path / "out")
    assert damaged.exit_code == 2
    assert f"source '{path}' could not be read" in damaged.stderr
    for result in (blocked, damaged):
        assert len(result.stderr.splitlines()) == 1


def test_help_teaches():
    result = _run("--help")
    assert result.exit_code == 0
    assert (
        "hierbandits learn log.parquet --task store --arm promo --reward revenue" in result.output
    )
    for option in ("--task", "--features", "--population", "--held-out", "--runs", "--out"):
        assert option in result.output


def test_a_column_of_lists_and_integer_arms_by_command(tmp_path):
    rows = drawn(34, armed=False, tasks=8, events=12)
    path, out = tmp_path / "log.parquet", tmp_path / "out"
    frame = rows.frame()
    frame.with_columns(x=pl.concat_list("x0", "x1", "x2")).write_parquet(path)
    named = ["--task", "store", "--reward", "revenue", "--runs", 0, "--held-out", 0, "--out", out]
    named.append("--overwrite")
    assert _run(path, *named, "--features", "x").exit_code == 0
    lists = GaussianHierarchy.load(out / "prior.json").to_dict()
    assert _run(path, *named, *(f"--features=x{j}" for j in range(3))).exit_code == 0
    assert lists == GaussianHierarchy.load(out / "prior.json").to_dict()
    assert _run(path, *named, "--features", "x0").exit_code == 0
    assert GaussianHierarchy.load(out / "prior.json").dim == 1
    frame = drawn(35, armed=True).frame()
    frame.with_columns(pl.col("promo").str.slice(1).cast(pl.Int64)).write_parquet(path)
    arms = sorted(set(frame["promo"].str.slice(1).cast(pl.Int64)), reverse=True)
    result = _run(path, *named, "--arm", "promo", *(f"--arms={arm}" for arm in arms))
    assert result.exit_code == 0, result.output
    assert json.loads((out / "prior.json").read_text())["arms"] == arms


def test_an_agent_that_is_there_is_not_replaced(tmp_path):
    rows = drawn(34, armed=True, tasks=6, events=12)
    path, agent = tmp_path / "log.csv", tmp_path / "agent.hb"
    rows.frame().write_csv(path)
    named = ["--task", "store", "--arm", "promo", "--reward", "revenue", "--runs", 0]
    named += ["--held-out", 0, "--out", tmp_path / "out"]
    agent.write_text("mine")
    for place in (agent, tmp_path / "none" / "agent.hb"):
        refused = _run(path, *named, "--agent", place)
        assert refused.exit_code == 2
        assert "--agent must be" in refused.stderr
    assert agent.read_text() == "mine"
    assert not (tmp_path / "out").exists()


def test_what_was_learned_as_json(tmp_path):
    rows = drawn(34, armed=False, tasks=6, events=12)
    path, out, agent = tmp_path / "log.csv", tmp_path / "out", tmp_path / "agent.hb"
    rows.frame().write_csv(path)
    named = ["--task", "store", "--reward", "revenue", "--runs", 0, "--held-out", 0, "--out", out]
    named += ["--structure", "scalar"]
    named += [part for j in range(3) for part in ("--features", f"x{j}")]
    told = json.loads(_run(path, *named, "--agent", agent, "--json").stdout)
    files = told.pop("files")
    assert files == {
        "page": str(out / "report.html"),
        "start": str(out / "start.hb"),
        "agent": str(agent),
    }
    assert told == json.loads((out / "report.json").read_text())
    assert _run(path, *named, "--quiet").output == ""
    agent.unlink()
    printed = _run(path, *named, "--agent", agent).stdout
    assert len(agent_from_snippet(printed).tasks) == 6


def test_clicks_by_command(tmp_path):
    log = click_log(31)
    path, out = tmp_path / "clicks.parquet", tmp_path / "out"
    log.frame().write_parquet(path)
    named = ["--task", "store", "--arm", "banner", "--reward", "clicks", "--runs", "0"]
    result = _run(path, *named, "--rewards", "bernoulli", "--structure", "scalar", "--out", out)
    assert result.exit_code == 0, result.output
    assert "Rewards are taken for bernoulli" in " ".join(result.output.split())
    assert hb.Start.load(out / "start.hb").prior.rewards.NAME == "bernoulli"
    served = PolicySettings.from_json(b'{"prior": %s}' % (out / "prior.json").read_bytes())
    assert served.make_agent(lambda event: None, 0).prior.rewards.NAME == "bernoulli"
    log.rewards[5] = 2.0
    log.frame().write_parquet(path)
    result = _run(path, *named, "--rewards", "bernoulli", "--out", tmp_path / "other")
    assert result.exit_code == 2
    assert "reward must be 0 or 1, got 2 in column 'clicks' at row 5" in result.output
