"""Experiments: complete folders, honest rows, the same numbers every time."""

import json
import re

import numpy as np
import polars as pl
import pytest

from hierbandits.experiments import EXPERIMENTS, Options
from hierbandits.experiments.experiment import paper_problem

KEYS = {"experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs"}
KEYS |= {"mean", "standard_error"}
OURS = ["synthetic", "similarity", "adaptive", "concurrency", "meta"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Each experiment once, small, with its folder."""
    made = {}

    def make(name):
        if name not in made:
            told = []
            options = Options(
                runs=4, seed=1, progress=lambda done, total: told.append((done, total))
            )
            report = EXPERIMENTS[name].run(options)
            folder = tmp_path_factory.mktemp(name)
            report.write(folder)
            made[name] = report, folder, told
        return made[name]

    return make


@pytest.mark.parametrize("name", OURS)
def test_an_experiment_leaves_a_complete_folder(name, reports):
    report, folder, told = reports(name)
    rows = json.loads((folder / "summary.json").read_text())
    assert rows == json.loads(json.dumps(report.rows))
    assert all(set(row) >= KEYS and row["experiment"] == name for row in rows)
    assert all(row["runs"] == 4 and row["mean"] >= 0 <= row["standard_error"] for row in rows)
    assert told[-1][0] == told[-1][1]  # the bar ends at its end
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["seed"] == 1
    assert {"hierbandits", "numpy", "numba", "python"} <= set(settings["versions"])
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / f"{name}.svg").read_text()
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 1
    assert not re.search(r'(src|href)="http', page)  # one page, nothing fetched
    frames = [pl.read_parquet(path) for path in folder.glob("*.parquet")]
    assert frames
    assert all("regret" in frame.columns for frame in frames)
    assert settings["files"] == sorted(path.name for path in folder.iterdir())


def test_the_synthetic_panels(reports):
    report, folder, _ = reports("synthetic")
    rows = report.rows
    for panel, width in (("a", 0.5), ("b", 1.0)):
        own = [row for row in rows if row["panel"] == panel]
        assert {row["policy"] for row in own} >= {"HierTS", "TS", "OracleTS", "PooledTS", "HierUCB"}
        assert all((row["sigma_q"], row["sigma_0"], row["L"]) == (width, 0.1, 5) for row in own)
        assert all(row["mean"] < row["bound"] for row in own if row["policy"] == "HierTS")
        assert all(0 < row["bound_paper"] != row["bound"] for row in own)
    sizes = [(row["sigma_q"], row["L"]) for row in rows if row["panel"] == "c"]
    assert sizes == [(width, size) for width in (0.5, 1.0) for size in (1, 2, 5, 10)]
    same = {row["panel"]: row["mean"] for row in rows if row["policy"] == "HierTS"
            and (row["sigma_q"], row["L"]) == (0.5, 5)}  # fmt: skip
    assert same["a"] == same["c"]
    curves = pl.read_parquet(folder / "curves_a.parquet")
    last = curves.filter((pl.col("round") == 400) & (pl.col("policy") == "TS"))
    ts = next(row for row in rows if row["panel"] == "a" and row["policy"] == "TS")
    assert last["regret"].mean() == pytest.approx(ts["mean"])
    totals = _totals(folder / "tasks_c.parquet", "sigma_q", "L")
    assert totals == pytest.approx(
        {(row["sigma_q"], row["L"]): row["mean"] for row in rows if row["panel"] == "c"}
    )


def _totals(path, *keys):
    """The mean over runs of the final regret of each study in a file, by its labels."""
    sums = pl.read_parquet(path).group_by(*keys, "run").agg(pl.col("regret").sum())
    means = sums.group_by(*keys).agg(pl.col("regret").mean())
    return {tuple(row[:-1]) if len(keys) > 1 else row[0]: row[-1] for row in means.iter_rows()}


def test_the_files_of_concurrency_hold_what_its_rows_say(reports):
    report, folder, _ = reports("concurrency")
    by_schedule = {r["schedule"]: r["mean"] for r in report.rows if r["panel"] == "schedules"}
    assert len(by_schedule) == 7
    assert _totals(folder / "tasks_schedules.parquet", "schedule") == pytest.approx(by_schedule)
    by_size = {
        (row["policy"], row["L"], row["repeats"]): row["mean"]
        for row in report.rows
        if row["panel"] == "L"
    }
    assert len(by_size) == 20
    assert _totals(folder / "tasks_L.parquet", "policy", "L", "repeats") == pytest.approx(by_size)


def test_the_papers_problem_is_the_papers():
    problem = paper_problem(0.5, 0.1)
    assert (problem.num_tasks, problem.actions.num_arms, problem.prior.dim) == (10, 10, 2)
    np.testing.assert_allclose(problem.prior.hyper_cov, 0.25 * np.eye(2))
    np.testing.assert_allclose(problem.prior.task_cov, 0.01 * np.eye(2))
    assert problem.prior.noise_std == 0.5
    assert (problem.actions.shape, problem.actions.size, problem.actions.per) == ("box", 0.5, "run")


def test_runs_are_as_asked_quick_or_usual():
    assert Options().num_runs(1000, 100) == 1000
    assert Options(quick=True).num_runs(1000, 100) == 100
    assert Options(quick=True, runs=7).num_runs(1000, 100) == 7


def test_the_adaptive_rows_say_the_ratio_to_knowing_the_truth(reports):
    report, folder, _ = reports("adaptive")
    tasks = pl.read_parquet(folder / "tasks_0.3.parquet")
    totals = tasks.group_by("policy", "run").agg(pl.col("regret").sum()).sort("run")
    own, truth = (
        totals.filter(pl.col("policy") == name)["regret"].to_numpy()
        for name in ("AdaptiveHierTS", "HierTS")
    )
    row = next(
        row for row in report.rows if row["sigma_0"] == 0.3 and row["policy"] == "AdaptiveHierTS"
    )
    np.testing.assert_allclose(row["ratio"], own.mean() / truth.mean())
    # The delta method: the variance of own / truth near their means, with their covariance.
    (a, c), (_, b) = np.cov(own, truth) / len(own)
    r = own.mean() / truth.mean()
    error = np.sqrt(a - 2 * r * c + r**2 * b) / truth.mean()
    np.testing.assert_allclose(row["ratio_error"], error)
