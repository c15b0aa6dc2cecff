"""What experiments share: their options, the paper's problem, the studies that they run."""

from dataclasses import fields

import numpy as np
import polars as pl
import pytest

from hierbandits import POLICIES, simulate
from hierbandits.experiments import EXPERIMENTS, Options
from hierbandits.experiments.experiment import (
    SUMMARY_KEYS,
    StudyRunner,
    add_rows,
    labelled,
    paper_problem,
    result_rows,
)
from hierbandits.reporting.report import Report
from hierbandits.simulation.schedules import Concurrent, Federated


@pytest.fixture(scope="module")
def study():
    problem = paper_problem(1.0, 0.1)
    return simulate(problem, ["HierTS", "TS"], Federated(), runs=5, num_interactions=8)


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


def test_a_runner_simulates_with_the_options_and_counts_all_studies(tmp_path):
    heard = []
    options = Options(
        seed=3, checkpoint=tmp_path, progress=lambda done, total: heard.append((done, total))
    )
    runner = StudyRunner(options, 9)
    problem = paper_problem(1.0, 0.1)
    runner.run(problem, ["HierTS"], Concurrent(5), 4, num_interactions=6)
    study = runner.run(problem, ["TS"], Concurrent(5), 5, num_interactions=6, snapshot_every=4)
    expected = simulate(problem, ["TS"], Concurrent(5), 5, 3, num_interactions=6, snapshot_every=4)
    for name in ("curve", "per_task", "snapshots"):
        mine, others = (getattr(s.outcomes["TS"], name) for s in (study, expected))
        np.testing.assert_array_equal(mine, others)
    assert heard == [(4, 9), (9, 9)]
    assert len(list(tmp_path.glob("*.chunk"))) == 2


def test_results_as_text_and_as_rows(study):
    report = Report("x", "title", {})
    add_rows(report, study, "a", sigma_q=1.0)
    hier, ts = report.rows
    gaps = study.outcomes["TS"].total - study.outcomes["HierTS"].total
    assert (ts["panel"], ts["policy"], ts["sigma_q"], ts["L"]) == ("a", "TS", 1.0, None)
    assert list(ts)[: len(SUMMARY_KEYS)] == list(SUMMARY_KEYS)
    assert (ts["experiment"], ts["runs"], ts["sigma_0"]) == ("x", 5, None)
    assert ts["difference"] == pytest.approx(gaps.mean())
    own, other = result_rows(study)
    assert own == ["HierTS", f"{hier['mean']:.2f}", f"{hier['standard_error']:.2f}", "", ""]
    error = gaps.std(ddof=1) / np.sqrt(5)
    assert other[0] == "TS"
    assert other[3:] == [f"{gaps.mean():+.2f}", f"{error:.2f}"]


def test_labels_tell_frames_apart(study):
    frame = labelled(
        (study.task_frame(), {"L": size, "repeats": repeats, "kind": "x", "width": 0.5})
        for size, repeats in ((2, True), (5, False))
    )
    assert frame.schema["L"] == pl.Int64
    assert frame.schema["repeats"] == pl.Boolean
    counts = frame.group_by("L", "repeats", "kind", "width").len().sort("L").rows()
    assert counts == [(2, True, "x", 0.5, 100), (5, False, "x", 0.5, 100)]


def test_tasks_rounds_and_policies_are_as_asked_or_usual():
    usual, own = Options(), POLICIES["TS"]
    asked = Options(tasks=3, concurrent=2, policies={"mine": own})
    assert (usual.num_tasks(10), asked.num_tasks(10)) == (10, 3)
    assert (usual.round_size(5), asked.round_size(5)) == (5, 2)
    assert list(usual.compared(["TS", "PooledTS"])) == ["TS", "PooledTS"]
    assert asked.compared(["TS"]) == {"HierTS": POLICIES["HierTS"], "mine": own}
    assert list(Options(policies={"TS": own, "HierTS": POLICIES["HierTS"]}).compared([])) == [
        "HierTS",
        "TS",
    ]


@pytest.mark.parametrize(
    ("name", "sizes"), [("synthetic", [1, 2, 3]), ("similarity", [3]), ("meta", [1])]
)
def test_an_experiment_of_other_tasks_rounds_and_policies(name, sizes):
    """What an experiment takes changes its studies, its settings and its rows."""
    experiment = EXPERIMENTS[name]
    options = {"tasks": 4, "policies": {"mine": POLICIES["PooledTS"]}}
    options |= {"concurrent": 3} if "concurrent" in experiment.takes else {}
    report = experiment.run(Options(runs=2, quick=True, **options))
    assert report.settings["m"] == 4
    assert {row["policy"] for row in report.rows} == {"HierTS", "mine"}
    assert sorted({row["L"] for row in report.rows}) == sizes
    frames = [frame for frame in report._frames.values() if "task" in frame.columns]
    assert {frame["task"].max() for frame in frames} == {3}


def test_experiments_take_fields_of_their_options():
    known = {field.name for field in fields(Options)}
    for name, experiment in EXPERIMENTS.items():
        assert set(experiment.takes) <= known, name
