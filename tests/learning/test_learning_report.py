"""A learning report: its folder, its terminal, its one line."""

import json
import re
from io import StringIO

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from support.learn_logs import learned
from support.odd_names import ODD_NAMES

from hierbandits import GaussianHierarchy, Limits, Start, learn_prior
from hierbandits.learning.start_trial import PLAYERS

FIGURES = ["calibration", "evidence", "forest", "outliers", "regret", "shrinkage", "widths"]


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 3)])
def test_a_report_leaves_a_complete_folder(armed, populations, tmp_path):
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
    opening = ['class="answer"', 'class="certainty"', "<figure", "<table", "<footer>"]
    places = [page.index(part) for part in opening]
    assert places == sorted(places)  # the answer, the figure, then the numbers
    assert report.verdict[0].startswith(re.search(r'class="answer">(.*?)</p>', page)[1])
    for word in ("a polars DataFrame", "task: store", f"{rows.task.size:,} read; left out: none"):
        assert word in page
    assert settings["made_from"]["rows"] == rows.task.size
    assert settings["made_from"]["columns"]["reward"] == "revenue"
    assert "nan" not in re.sub(r"base64,[^\"]*", "", page).lower().replace("nanny", "")
    assert GaussianHierarchy.load(folder / "prior.json").to_dict() == prior.to_dict()
    tasks = pl.read_parquet(folder / "tasks.parquet")
    assert tasks["task"].to_list() == rows.names
    np.testing.assert_array_equal(tasks["weight_of_others"].to_numpy(), report.shrinkage.weight)
    outliers = pl.read_parquet(folder / "outliers.parquet")
    np.testing.assert_array_equal(outliers["p_value"].to_numpy(), report.outliers.p_value)
    regret = pl.read_parquet(folder / "regret.parquet")
    assert set(regret["policy"]) == set(PLAYERS)
    assert set(regret["tasks"]) == ({"new", "own"} if populations == 1 else {"new"})
    data = json.loads((folder / "report.json").read_text())
    assert data == json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["verdict"] == list(report.verdict)
    assert data["comparison"]["probability"] == report.comparison.probability
    assert data["similarity"]["task_std"] == report.similarity.task_std.tolist()
    assert data["outliers"]["flagged"] == report.outliers.flagged_tasks
    assert data["calibration"]["coverage"] == report.calibration.coverage.tolist()
    promised = data["promises"]["regret_per_task"]
    assert promised[0]["mean"] == report.promises.of("new", "this start").mean
    assert GaussianHierarchy.from_dict(data["prior"]).dim == 3
    start = Start.load(folder / "start.hb")
    assert start.tasks == report.start.tasks
    assert data["prior"] == prior.to_dict()
    rows_of_policies = json.loads((folder / "summary.json").read_text())
    assert {row["policy"] for row in rows_of_policies} == set(regret["policy"])


def test_the_terminal_shows_the_verdict_and_the_tables():
    report = learned(True)[2]
    text = StringIO()
    report.show(Console(file=text, width=200))
    shown = text.getvalue()
    for paragraph in report.verdict:
        assert paragraph.split(".")[0] in shown
    for heading in ("How similar tasks are", "Pooled, hierarchical or independent",
                    "Whether predictions hold", "What this start promises"):  # fmt: skip
        assert heading in shown
    assert f"{report.comparison.log_evidence['pooled']:.2f}" in shown
    assert f"{100 * report.calibration.coverage[2]:.1f} %" in shown


def test_the_main_finding_fits_a_line():
    rows, _, report = learned(True)
    best = report.comparison.best
    line = repr(report)
    assert line.startswith(f"<LearningReport on {rows.task.size:,} rows of 30 tasks: the {best} ")
    assert "\n" not in line
    assert f"{report.comparison.probability[best]:.3g}" in line


def test_names_have_no_power_over_pages_figures_and_terminals(tmp_path):
    rng, names = np.random.default_rng(0), [*ODD_NAMES, "plain"]
    task, arm = rng.integers(0, len(names), 300), rng.integers(0, 4, 300)
    frame = pl.DataFrame(
        {
            "task": [names[place] for place in task],
            "arm": [names[place] for place in arm],
            "reward": rng.normal(size=300) + arm + 9.0 * (task == 2),
        }
    )
    _, report = learn_prior(
        frame, task="task", arm="arm", reward="reward", runs=0, held_out=0,
        limits=Limits(name_length=100_000),
    )  # fmt: skip
    page = report.write(tmp_path).read_text()
    out = StringIO()
    report.show(Console(file=out, width=100))
    page = page[: page.index("<details>")]  # settings are there as they were given
    assert "<script>" not in page
    for text in (page, out.getvalue()):
        assert "\x1b" not in text
        assert "x" * 400 not in text
    assert set(pl.read_parquet(tmp_path / "tasks.parquet")["task"]) == set(names)  # all of them


def _page_of(frame, folder, **more):
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    _, report = learn_prior(frame, **columns, runs=2, held_out=0, progress=False, **more)
    text = report.write(folder).read_text(encoding="utf-8")
    return report, re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)


def test_one_row_a_task_estimates_no_task(tmp_path):
    """Tasks differ by 1, but nothing repeats: neither widths nor correlations are told."""
    rng = np.random.default_rng(80)
    arm = rng.integers(0, 3, 90)
    reward = arm + rng.normal(size=90) + rng.normal(size=90)
    frame = pl.DataFrame({"task": np.arange(90), "arm": arm, "reward": reward})
    report, page = _page_of(frame, tmp_path)
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower().split()
    assert {"forest", "shrinkage"}.isdisjoint(section.name for section in report.sections())
    assert "lookup" not in page
    assert "No task has data of two arms" in page
    assert "not correlated" not in page
    assert "is not simulated: that depends on how much tasks differ" in page
    tasks = pl.read_parquet(tmp_path / "tasks.parquet")
    assert tasks["mean 0"].is_null().all()
    assert tasks["weight_of_others"].is_null().all()


def test_arms_of_one_task_or_of_none_are_left_out_of_the_forest(tmp_path):
    """Three tasks play a and b, one of them c too, and nobody d."""
    rng = np.random.default_rng(81)
    task = np.repeat(np.arange(3), 14)
    arm = np.array(["a", "b"])[rng.integers(0, 2, 42)]
    arm[:14:3] = "c"
    frame = pl.DataFrame({"task": task, "arm": arm, "reward": rng.normal(size=42)})
    report, page = _page_of(frame, tmp_path, arms=["a", "b", "c", "d"])
    forest = next(section for section in report.sections() if section.name == "forest")
    assert [row[0] for row in forest.rows] == ["a", "b"]
    assert "How tasks differ with c, d, the log cannot tell" in forest.words[0]
    assert report.similarity.confidence == 0.925
    assert "92.5 % from" in page
    assert "With so few tasks" in page
    tasks = pl.read_parquet(tmp_path / "tasks.parquet")
    assert tasks["mean c"].is_null().all()
    assert tasks["mean a"].is_not_null().all()
