"""What learning leaves behind: priors, reports, folders, and one line for bad input."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hierbandits.learning.held_out import Split
from hierbandits.learning.prior import fitted
from rich.console import Console
from support.learn_logs import drawn
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.cli import app
from hierbandits.learning.savings import Saving
from hierbandits.learning.verdict import _saved, on_calibration, on_similarity, strength
from hierbandits.reporting.report import to_its_error

COMMAND = Path(sys.executable).with_name("hierbandits")
FIGURES = ["calibration", "evidence", "outliers", "regret", "shrinkage", "widths"]


@pytest.fixture(scope="module")
def learned():
    """The report on a log of each form."""
    made = {}

    def make(armed, populations=1):
        key = armed, populations
        if key not in made:
            rows = drawn(30, armed=armed, populations=populations, tasks=30, events=40)
            prior, report = hb.learn_prior(rows.frame(), **rows.arguments, runs=10, seed=2)
            made[key] = rows, prior, report
        return made[key]

    return make


def _sums(rows):
    sums = TaskSums.zeros(len(rows.theta), rows.dim, armed=rows.armed)
    sums.add(rows.task, rows.features, rows.rewards)
    return sums


@pytest.mark.parametrize("armed", [True, False])
def test_one_population_gives_the_hyper_posterior(armed, learned):
    rows, prior, report = learned(armed)
    fit = fitted(_sums(rows), rows.population, "diagonal", 1, None)
    hyper = Belief.from_sums(fit.prior, _sums(rows)).hyper()
    cov = np.diagonal(hyper.cov) if armed else hyper.cov
    np.testing.assert_allclose(prior.hyper_mean, hyper.mean, rtol=1e-9)
    np.testing.assert_allclose(prior.hyper_cov, cov, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(prior.task_cov, fit.prior.task_cov, rtol=1e-9)
    assert prior.noise_std == pytest.approx(fit.prior.noise_std)
    assert report.prior is prior
    assert (report.num_rows, report.num_tasks) == (rows.task.size, 30)


@pytest.mark.parametrize("armed", [True, False])
def test_several_populations_give_the_learned_hyper_prior(armed, learned):
    rows, prior, report = learned(armed, 3)
    fit = fitted(_sums(rows), rows.population, "diagonal", 1, None)
    np.testing.assert_allclose(prior.hyper_mean, fit.prior.hyper_mean, rtol=1e-6)
    np.testing.assert_allclose(prior.hyper_cov, fit.prior.hyper_cov, rtol=1e-6)
    np.testing.assert_allclose(report.similarity.hyper_std, fit.hyper_widths.std, rtol=1e-6)
    assert (report.similarity.hyper_low <= report.similarity.hyper_std).all()
    assert (report.similarity.hyper_high >= report.similarity.hyper_std).all()


def test_an_agent_that_starts_from_the_prior_knows_what_tasks_have_in_common(learned):
    _, prior, report = learned(True)
    agent = hb.Agent(prior, arms=report.arms, seed=0)
    best = int(prior.hyper_mean.argmax())
    chosen = [agent.decide(f"new-{i}") for i in range(200)]
    share = np.mean([decision.arm == report.arms[best] for decision in chosen])
    draws = np.random.default_rng(0).standard_normal((100_000, 3))
    std = np.sqrt(prior.hyper_cov + prior.task_cov)
    expected = ((prior.hyper_mean + draws * std).argmax(1) == best).mean()
    assert abs(share - expected) < 5 * np.sqrt(0.25 / 200)
    for decision in chosen:
        agent.reward(decision.id, 1.0)
    linear = hb.Agent(learned(False)[1], seed=0)
    assert linear.decide("new", {"one": [1.0, 0, 0], "two": [0, 1.0, 0]}).arm in ("one", "two")


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 3)])
def test_a_report_leaves_a_complete_folder(armed, populations, learned, tmp_path):
    rows, prior, report = learned(armed, populations)
    folder = tmp_path / "new" / "folder"
    assert report.write(folder) == folder / "report.html"
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in folder.iterdir())
    for name in FIGURES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{name}.svg").read_text()
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == len(FIGURES)
    assert not re.search(r'(src|href)="http', page)
    assert "nan" not in re.sub(r"base64,[^\"]*", "", page).lower().replace("nanny", "")
    assert GaussianHierarchy.load(folder / "prior.json").to_dict() == prior.to_dict()
    tasks = pl.read_parquet(folder / "tasks.parquet")
    assert tasks["task"].to_list() == rows.names
    np.testing.assert_array_equal(tasks["weight_of_others"].to_numpy(), report.shrinkage.weight)
    outliers = pl.read_parquet(folder / "outliers.parquet")
    np.testing.assert_array_equal(outliers["p_value"].to_numpy(), report.outliers.p_value)
    regret = pl.read_parquet(folder / "regret.parquet")
    assert set(regret["policy"]) == {"HierTS", "TS", "PooledTS", "OracleTS"}
    found = json.loads((folder / "report.json").read_text())
    assert found == json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert found["verdict"] == list(report.verdict)
    assert found["comparison"]["probability"] == report.comparison.probability
    assert found["similarity"]["task_std"] == report.similarity.task_std.tolist()
    assert found["outliers"]["flagged"] == report.outliers.names
    assert found["calibration"]["coverage"] == report.calibration.coverage.tolist()
    assert found["savings"]["regret"]["TS"] == list(report.savings.regret("TS"))
    assert found["prior"] == prior.to_dict()
    rows_of_policies = json.loads((folder / "summary.json").read_text())
    assert {row["policy"] for row in rows_of_policies} == set(regret["policy"])


def test_the_terminal_shows_the_verdict_and_the_tables(learned):
    report = learned(True)[2]
    text = StringIO()
    report.show(Console(file=text, width=200))
    shown = text.getvalue()
    for paragraph in report.verdict:
        assert paragraph.split(".")[0] in shown
    for heading in ("How similar tasks are", "Pooled, hierarchical or independent",
                    "Whether predictions hold", "What sharing would save"):  # fmt: skip
        assert heading in shown
    assert f"{report.comparison.log_evidence['pooled']:.2f}" in shown
    assert f"{100 * report.calibration.coverage[2]:.1f} %" in shown


def test_the_same_seed_gives_the_same_report_whatever_the_batches():
    rows = drawn(31, armed=False, tasks=10, events=20)
    reports = [
        hb.learn_prior(rows.log(batch_rows=size), runs=4, seed=seed)[1].to_dict()
        for size, seed in ((13, 1), (1000, 1), (13, 2))
    ]
    for name in ("comparison", "calibration", "savings"):
        _assert_same(reports[0][name], reports[1][name])
    assert reports[0]["calibration"]["rows"] != reports[2]["calibration"]["rows"]


def _assert_same(one, other):
    """To rounding: sums over other batches are the same but for their last digits."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            _assert_same(one[name], other[name])
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            _assert_same(a, b)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9)
    else:
        assert one == other


@pytest.mark.parametrize(
    ("odds", "word"), [(2.9, "hardly"), (3.1, "somewhat"), (21, "strongly"), (151, "very strongly")]
)
def test_the_words_for_evidence(odds, word):
    assert strength(np.log(odds)) == word


def test_given_noise_and_structure_are_used():
    rows = drawn(32, armed=False, tasks=20, events=20)
    prior, report = hb.learn_prior(
        rows.frame(), **rows.arguments, structure="full", noise_std=0.7, held_out=0, runs=0
    )
    assert prior.noise_std == pytest.approx(0.7)
    assert np.abs(prior.task_cov - np.diag(np.diagonal(prior.task_cov))).max() > 1e-4
    assert report.settings["structure"] == "full"
    found = report.to_dict()
    assert found["similarity"]["noise_low"] is None
    assert found["calibration"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": None}, "task and reward must name columns, got None and 'revenue'"),
        ({"arm": None, "arms": None}, "one of arm and features must be given"),
        ({"task": "nope"}, "columns must each occur once, got 'nope'"),
        ({"arms": ["a0"]}, r"arm must be one of 'a0', got 'a\d' in column 'promo' at row"),
        ({"held_out": 1.0}, r"held_out must be a share of the rows in \[0, 1\), got 1.0"),
        ({"held_out": -0.1}, "held_out must be a share"),
        ({"held_out": float("nan")}, "held_out must be a share"),
        ({"held_out": 1e-9}, "held_out must leave rows on both sides, got 1e-09, which"),
        ({"runs": -1}, "runs must be a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"structure": "round"}, "structure must be one of"),
        ({"structure": "full"}, "structure must be scalar or diagonal for arms"),
        ({"noise_std": 0.0}, "noise_std must be positive"),
        ({"noise_std": -1.0}, "noise_std must be positive"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(change, message):
    rows = drawn(33, armed=True)
    with pytest.raises(ValueError, match=message):
        hb.learn_prior(rows.frame(), **(rows.arguments | {"runs": 0} | change))


def test_a_log_names_its_own_columns():
    rows = drawn(33, armed=True)
    with pytest.raises(ValueError, match="reward must not be given with a Log, got 'revenue'"):
        hb.learn_prior(rows.log(), reward="revenue")


@pytest.mark.parametrize("armed", [True, False])
def test_an_offset_that_sums_of_squares_cannot_bear_is_refused(armed):
    rows = drawn(31, armed=armed, tasks=60, events=40)
    if not armed:
        rows.features[:, 0] = 1.0  # takes the offset up
    frame = rows.frame()
    plain = hb.learn_prior(frame, **rows.arguments, held_out=0, runs=0)[1].similarity
    std = frame["revenue"].std(ddof=0)
    for times, right in ((3e3, True), (1.1e4, False), (1e8, False)):
        lifted = frame.with_columns(pl.col("revenue") + times * std)
        if right:
            found = hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)[1].similarity
            np.testing.assert_allclose(found.task_std, plain.task_std, rtol=1e-2)
            continue
        with pytest.raises(ValueError, match="subtract a constant from all rewards first"):
            hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)


def test_logs_that_teach_nothing_are_refused():
    frame = drawn(33, armed=True).frame()
    named = {"task": "store", "arm": "promo", "reward": "revenue"}
    with pytest.raises(ValueError, match="task must have at least two values in the log, got 1"):
        hb.learn_prior(frame.with_columns(store=pl.lit("one")), **named)
    with pytest.raises(
        ValueError, match=r"arm must have at least two values in the log, got \['x'\]"
    ):
        hb.learn_prior(frame.with_columns(promo=pl.lit("x")), **named)
    with pytest.raises(ValueError, match="reward must differ between rows, got 2 in all of them"):
        hb.learn_prior(frame.with_columns(revenue=pl.lit(2.0)), **named)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("tasks", [2, 6])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_smallest_logs_and_those_without_noise_get_a_report(armed, tasks, noise):
    rows = drawn(36, armed=armed, tasks=tasks, events=2, noise=noise)
    prior, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0.5, seed=1, runs=2)
    assert prior.noise_std > 0
    assert np.isfinite(list(report.calibration.log_score.values())).all()
    json.dumps(report.to_dict(), allow_nan=False)
    assert all(report.verdict)


def test_two_rows_are_a_log():
    frame = pl.DataFrame({"store": [1, 2], "promo": ["a", "b"], "revenue": [0.0, 1.0]})
    for seed in range(20):
        if Split(0.5, seed).held(0, 2).sum() == 1:
            named = {"task": "store", "arm": "promo", "reward": "revenue"}
            _, report = hb.learn_prior(frame, **named, held_out=0.5, seed=seed, runs=2)
            assert (report.calibration.rows, report.calibration.training_rows) == (1, 1)
            return
    raise AssertionError("no seed splits two rows")


@pytest.mark.parametrize("armed", [True, False])
def test_priors_save_and_load_exactly(armed, learned, tmp_path):
    prior = learned(armed)[1]
    path = tmp_path / "prior.json"
    prior.save(path)
    assert GaussianHierarchy.load(path).to_dict() == prior.to_dict()
    assert json.loads(path.read_text()) == prior.to_dict()
    before = path.stat().st_mode & 0o777
    (tmp_path / "plain").touch()
    assert before == (tmp_path / "plain").stat().st_mode & 0o777
    deep = GaussianHierarchy.deep(hyper_mean=[0.1], covs=[[[1 / 3]]] * 3, noise_std=0.7)
    deep.save(str(path))  # over the old one
    assert GaussianHierarchy.load(str(path)).to_dict() == deep.to_dict()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plain", "prior.json"]


def test_a_prior_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    path = tmp_path / "prior.json"
    path.write_text("old")

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        prior.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["prior.json"]


def test_truncated_and_foreign_priors_are_refused_by_name(tmp_path):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    path = tmp_path / "prior.json"
    prior.save(path)
    whole = path.read_bytes()
    cut = [whole[:size] for size in range(len(whole.rstrip()))]
    foreign = [b"\xff\xfe\x00", b"[" * 100_000, b"null", b"[]", b'{"armed": true}', b"PK\x03\x04"]
    foreign.append(whole.replace(b"1.0", b"NaN", 1))
    foreign.append(whole.replace(b"true", b'"yes"'))
    for content in cut + foreign:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))} must hold a hierarchy"):
            GaussianHierarchy.load(path)
    with pytest.raises(FileNotFoundError):
        GaussianHierarchy.load(tmp_path / "nowhere.json")


def test_the_warfarin_trial_by_command(tmp_path):
    log = hb.datasets.warfarin().as_log(np.random.default_rng(0))
    path, out = tmp_path / "trial.parquet", tmp_path / "out"
    log.source.write_parquet(path)
    arguments = ["--task", "site", "--arm", "dose", "--reward", "reward", "--runs", "40"]
    arguments += [part for dose in ("low", "medium", "high") for part in ("--arms", dose)]
    result = subprocess.run(
        [COMMAND, "learn", path, *arguments, "--seed", "3", "--out", out],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "Tasks are alike but not equal" in result.stdout
    assert "Rewards have two values" in " ".join(result.stdout.split())
    assert f"Report: {out / 'report.html'}\n" in result.stdout
    assert f"Prior: {out / 'prior.json'}; " in result.stdout
    settings = json.loads((out / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in out.iterdir())
    assert {f"{name}.png" for name in FIGURES} <= set(settings["files"])
    found = json.loads((out / "report.json").read_text())
    assert (found["rows"], found["tasks"], found["arms"]) == (6037, 22, ["low", "medium", "high"])
    assert found["comparison"]["best"] == "hierarchical"
    assert found["calibration"]["two_valued"]
    assert found["calibration"]["cells"]["count"] > 30
    # Doses were given at random, so that an arm's mean is the share of patients who needed it.
    counts = hb.datasets.warfarin().counts
    share = counts.sum(0) / counts.sum()
    np.testing.assert_allclose(found["prior"]["hyper_mean"], share, atol=0.1)
    lines = [line for line in result.stdout.splitlines() if line.startswith("    ")][-2:]
    names = {"hb": hb}
    exec("\n".join(line.strip() for line in lines), names)  # as told
    assert names["agent"].decide("new").arm in ("low", "medium", "high")
    again, _ = hb.learn_prior(log, seed=3, runs=0)
    assert names["prior"].to_dict() == again.to_dict()


def _run(*arguments):
    result = CliRunner().invoke(app, ["learn", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_features_by_command(tmp_path):
    rows = drawn(34, armed=False, tasks=8, events=12, populations=2)
    path, out = tmp_path / "log.csv", tmp_path / "[out]"
    rows.frame().write_csv(path)
    named = ["--task", "store", "--reward", "revenue", "--population", "country"]
    named += [part for j in range(3) for part in ("--features", f"x{j}")]
    result = _run(path, *named, "--structure", "scalar", "--runs", 0, "--held-out", 0, "--out", out)
    assert result.exit_code == 0, result.output
    assert "agent = hb.Agent(prior, seed=0)" in result.output
    found = json.loads((out / "report.json").read_text())
    assert found["similarity"]["coordinates"] == ["x0", "x1", "x2"]
    assert (found["calibration"], found["savings"]) == (None, None)
    assert not (out / "regret.png").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["nowhere.parquet"], "source must be a file, got 'nowhere.parquet'"),
        (["log.txt"], "source must"),
        (["--task", "nope"], "columns must each occur once, got 'nope'"),
        (["--features", "revenue"], "one of arm and features must be given"),
        (["--held-out", "2"], "held_out must be a share of the rows"),
        (["--structure", "full"], "structure must be scalar or diagonal for arms"),
        (["--noise-std", "0"], "noise_std must be positive"),
        (["--reward", "store"], "reward must be a number"),
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
    assert "source could not be read" in damaged.stderr
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


def test_what_is_not_told_apart_is_not_called_better(learned):
    _, _, report = learned(True)
    calibration = replace(
        report.calibration, gain={"pooled": (0.3, 0.1), "independent": (-0.019, 0.01)}
    )
    said = on_calibration(calibration)[-1]
    assert "better than pooled ones by 0.3 ± 0.1" in said
    assert "about as good as independent ones (-0.019 ± 0.01)" in said
    unsure = replace(report.similarity, maybe_zero=np.ones_like(report.similarity.maybe_zero))
    first, second = on_similarity(unsure)[:2]
    assert first.startswith("By the widths that fit best, ")
    assert second == "But the log tells none of these widths from zero: tasks may not differ."


def test_a_mean_is_shown_in_the_digits_that_its_error_leaves():
    shown = {(1000.9749, 0.0432): "1000.975", (0.39312, 0.0431): "0.393", (-0.0021, 0.3): "-0.0021",
             (3.93e-7, 4.31e-8): "3.93e-07", (0.0, 0.1): "0", (2.0, 0.0): "2",
             (123456789.25, 0.5): "123456789.25"}  # fmt: skip
    for (value, error), text in shown.items():
        assert to_its_error(value, error) == text
    rows = drawn(36, armed=True, tasks=12, events=30)
    lifted = rows.frame().with_columns(pl.col("revenue") + 1000)
    _, report = hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)
    means = [float(row[1]) for row in report.sections()[1].rows]
    mean, std = report.similarity.mean[0], report.similarity.mean_std[0]
    assert (np.abs(means - mean) < std / 10).all()


def test_features_that_repeat_each_other_are_told_of():
    rows = drawn(37, armed=False, tasks=40, events=30)
    rows.features[:, 0] = 1.0
    centred = rows.features[:, 1].copy()
    for mean, told in ((0.0, False), (30.0, True)):
        rows.features[:, 1] = centred + mean
        _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
        size = np.sqrt((rows.features**2).mean(0))
        expected = np.linalg.cond(rows.features / size) ** 2
        assert report.similarity.condition == pytest.approx(expected, rel=1e-6)
        assert ("Features nearly repeat each other" in report.verdict[1]) == told
        assert report.to_dict()["similarity"]["condition"] == report.similarity.condition


def test_large_percentages_are_spelt_out():
    values = {"difference": -1.0, "difference_error": 1.0, "percent": -152.3}
    saving = Saving(over="PooledTS", percent_error=141.0, **values)
    assert _saved(saving) == "about the regret of PooledTS (+152 ± 141 %)"
