"""The appendix's experiment on digits: its folder, its options, MNIST's numbers."""

import json

import numpy as np
import polars as pl
import pytest
from support.digit_images import MNIST, bundled
from support.study_files import assert_rows_match

from hierbandits.environments.images import load
from hierbandits.experiments import EXPERIMENTS, Options

KEYS = {"experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs"}
KEYS |= {"mean", "standard_error", "digit"}
needs_mnist = pytest.mark.skipif(not MNIST.is_dir(), reason=f"MNIST's idx files are not in {MNIST}")


def _means(rows, digit):
    return {row["policy"]: row["mean"] for row in rows if row["digit"] == digit}


def test_the_experiment_on_the_bundled_digits(tmp_path):
    heard = []
    options = Options(
        dataset="digits8x8", quick=True, runs=3, progress=lambda *progress: heard.append(progress)
    )
    report = EXPERIMENTS["digits"].run(options)
    page = report.write(tmp_path).read_text()
    assert heard[-1] == (24, 24)
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert len(rows) == 8
    assert all(set(row) >= KEYS for row in rows)
    assert {(row["panel"], row["digit"]) for row in rows} == {("0", 0), ("1", 1)}
    assert all((row["sigma_q"], row["sigma_0"], row["L"]) == (1.0, None, 5) for row in rows)
    for digit in (0, 1):
        means = _means(rows, digit)
        assert means["OracleTS"] < means["HierTS"] < means["TS"]
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["d"], settings["pictures"], settings["n"]) == (64, [898, 899], 400)
    assert settings["pictures of a task"] == settings["pictures of a sub-sample"] == 224
    assert settings["sha256"] == bundled().sha256()
    for name in ("digits", "hyper"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
    drawn = (tmp_path / "hyper.svg").read_text()
    assert all(f"<!-- {rounds} -->" in drawn for rounds in range(80, 801, 80))
    assert page.count("data:image/png;base64,") == 2
    assert "This page has --estimator choice-weighted and --arms-from subsample" in page
    ends = pl.read_parquet(tmp_path / "curves.parquet").filter(round=800)
    by_study = ends.partition_by("digit", "policy", as_dict=True)
    assert_rows_match(
        {(row["digit"], row["policy"]): row for row in rows},
        {labels: frame["regret"].to_numpy() for labels, frame in by_study.items()},
    )


def test_a_reading_is_run_and_told(tmp_path):
    """The literal one: an oracle that is told the mean positive picture has much more regret."""
    literal = {"estimator": "positive-mean", "arms_from": "test-half"}
    options = Options(dataset="digits8x8", digits=(1,), runs=2, **literal)
    report = EXPERIMENTS["digits"].run(options)
    page = report.write(tmp_path).read_text()
    means = _means(report.rows, 1)
    assert means["OracleTS"] > 2 * means["HierTS"]
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["estimator"], settings["arms from"]) == ("positive-mean", "test-half")
    assert settings["pictures of a task"] == 899
    assert "This page has --estimator positive-mean and --arms-from test-half" in page


@needs_mnist
def test_the_experiment_on_mnist():
    counts = np.bincount(load("mnist", MNIST).labels).tolist()
    assert counts == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    report = EXPERIMENTS["digits"].run(Options(data=MNIST, runs=4, digits=(0,)))
    means = _means(report.rows, 0)
    assert means["OracleTS"] < means["HierTS"] < means["TS"]
    assert 60 < means["OracleTS"] < 130  # 89 in 20 runs
    assert 140 < means["HierTS"] < 240  # 176
    assert 640 < means["TS"] < 800  # 719
    assert (report.settings["d"], report.settings["pictures"]) == (49, [30_000, 30_000])


@needs_mnist
def test_the_literal_reading_on_mnist():
    options = Options(data=MNIST, runs=4, digits=(0,), estimator="positive-mean")
    means = _means(EXPERIMENTS["digits"].run(options).rows, 0)
    assert 600 < means["OracleTS"] < 720  # 662 in 20 runs
    assert 140 < means["HierTS"] < 240  # 175


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"digits": (0, 10)}, "digits must be distinct and from 0 to 9, got"),
        ({"digits": (-1,)}, "digits must be distinct and from 0 to 9, got"),
        ({"digits": (2, 2)}, "digits must be distinct and from 0 to 9, got"),
        ({"estimator": "mean"}, "estimator must be one of choice-weighted, .* got 'mean'"),
        ({"arms_from": "train"}, "arms_from must be one of subsample, test-half, got 'train'"),
    ],
)
def test_bad_digits_are_named(asked, message):
    """Before any picture is loaded: there is no such data set."""
    with pytest.raises(ValueError, match=message):
        EXPERIMENTS["digits"].run(Options(dataset="nowhere", **asked))


def test_the_table_ends_with_the_mean_over_digits(tmp_path):
    """The error of the mean is over runs, since all digits of a run share its luck."""
    options = Options(dataset="digits8x8", runs=4, digits=(3, 5))
    report = EXPERIMENTS["digits"].run(options)
    ((_, columns, rows),) = (table for table in report._tables if table[1][0] == "digit")
    assert [row[0] for row in rows] == ["3", "5", "mean"]
    report.write(tmp_path)
    curves = pl.read_parquet(tmp_path / "curves.parquet")
    final = curves.filter(pl.col("round") == pl.col("round").max())
    by_run = final.group_by("policy", "run").agg(pl.col("regret").mean())
    for name in ("HierTS", "TS", "OracleTS", "PooledTS"):
        totals = by_run.filter(policy=name)["regret"].to_numpy()
        expected = f"{totals.mean():.0f} ± {totals.std(ddof=1) / 2:.0f}"
        assert rows[-1][columns.index(name)] == expected
