"""The folder that an evaluation leaves."""

import json
from html import escape
from io import StringIO

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from support.logged import World, table_policy
from support.odd_names import ODD_NAMES

from hierbandits import Limits, evaluate


@pytest.fixture(scope="module")
def evaluation():
    world = World.drawn(np.random.default_rng(13))
    log = world.log(world.rows(np.random.default_rng(14), 300))
    return evaluate(log, ["HierOPO", "uniform", "HierTS"], prior=world.prior())


def test_a_folder_is_complete(evaluation, tmp_path):
    page = evaluation.write(tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["files"] == sorted(path.name for path in page.parent.iterdir())
    data = json.loads((page.parent / "report.json").read_text())
    assert data == json.loads(json.dumps(evaluation.to_dict()))
    assert pl.read_parquet(page.parent / "estimates.parquet").equals(evaluation.frame())
    assert pl.read_parquet(page.parent / "tasks.parquet").equals(evaluation.task_frame())
    assert pl.read_parquet(page.parent / "hieropo.parquet").equals(evaluation.hieropo.frame())
    assert "HierOPO&#x27;s arms from all rows" in page.read_text()


def test_the_summary_has_a_row_for_each_estimate_with_its_diagnostics(evaluation, tmp_path):
    evaluation.write(tmp_path)
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert [row["improvement"] for row in rows] == [e.improvement for e in evaluation.estimates]
    assert rows[0]["diagnostics"] is None
    assert rows[0]["differences"] == []
    assert rows[1]["differences"][0]["low"] == evaluation.estimates[1].improvement_low
    effective = evaluation.diagnostics["HierOPO"].effective_rows
    assert rows[1]["diagnostics"]["effective_rows"] == effective
    assert rows[-1]["diagnostics"]["accepted"] == evaluation.replays["HierTS"].accepted


def test_a_page_opens_with_the_verdict_then_the_figure_then_the_numbers(evaluation):
    report = evaluation.report()
    page = report.html()
    page = page[page.index("<h1>") : page.index("<details>")]
    verdict = f'<p class="answer">{escape(evaluation.verdict.sentence)}</p>'
    places = [page.index(part) for part in (verdict, "<figure", "<table", "Warning 1 of ")]
    assert places == sorted(places)
    assert page.index("Replay answers another question") > page.index("<h2>Replay")
    assert f"{len(evaluation.warnings)} warnings below." in page
    assert report.settings["verdict"] == evaluation.verdict.sentence
    best = evaluation.verdict.policy
    each = evaluation.by_task[best, "dr"].estimates
    better, worse = (each.improvement_low > 0).sum(), (each.improvement_high < 0).sum()
    assert (
        f"{best} is told to earn more than the log in {better} of 6, and less in {worse}." in page
    )


@pytest.mark.parametrize("differ", [True, False])
def test_captions_tell_policies_apart_where_they_differ(differ):
    """One policy plays each task's best arm, in a world where one is best by 2, or none."""
    values = 2.0 * differ * np.tile(np.eye(3), (2, 1))
    world = World(values, np.full((6, 3), 1 / 3))
    log = world.log(world.rows(np.random.default_rng(8), 900))
    best = {"best": table_policy(np.tile(np.eye(3), (2, 1)))}
    policies = {"best arm": "best arm"} | best | {"even": table_policy(np.full((6, 3), 1 / 3))}
    evaluation = evaluate(log, policies, ["dr"], prior=world.prior(), folds=2)
    page = evaluation.report().html()
    told = [line for line in page.split(". ") if line.startswith("Told from the log")]
    assert ("each by itself: best (more)" in told[0]) == differ
    assert ("best is told to earn more than the log in 6 of 6, and less in 0." in page) == differ
    if not differ:
        assert "each by itself: none" in told[0]


def test_learning_policies_alone_have_a_page_too(tmp_path):
    world = World.drawn(np.random.default_rng(13), tasks=2)
    log = world.log(world.rows(np.random.default_rng(14), 300))
    page = evaluate(log, ["HierTS"], prior=world.prior()).write(tmp_path).read_text()
    assert (tmp_path / "replays.png").exists()
    assert not (tmp_path / "differences.png").exists()
    assert "While it learns, over the" in page


def test_without_hieropo_there_are_none_of_its_arms(tmp_path):
    world = World.drawn(np.random.default_rng(13), tasks=45)
    log = world.log(world.rows(np.random.default_rng(14), 300))
    page = evaluate(log, ["uniform"], ["ips"]).write(tmp_path).read_text()
    assert not (tmp_path / "hieropo.parquet").exists()
    assert "arms from all rows" not in page
    assert "The 40 tasks with most rows, of 45" in page
    assert "DM&#x27;s intervals" not in page


def test_names_have_no_power_over_pages_figures_and_terminals(tmp_path):
    rng, names = np.random.default_rng(0), [*ODD_NAMES, "plain"]
    task, arm = rng.integers(0, len(names), 200), rng.integers(0, len(names), 200)
    frame = pl.DataFrame(
        {
            "task": [names[place] for place in task],
            "arm": [names[place] for place in arm],
            "reward": rng.normal(size=200) + arm,
        }
    )
    policies = [f"arm:{name}" for name in names]
    evaluation = evaluate(
        frame, policies, ["ips"], task="task", arm="arm", reward="reward", uniform=True,
        limits=Limits(name_length=100_000),
    )  # fmt: skip
    page = evaluation.report().write(tmp_path).read_text()
    out = StringIO()
    evaluation.show(Console(file=out, width=100))
    page = page[: page.index("<details>")]  # settings are there as they were given
    assert "<script>" not in page
    for text in (page, out.getvalue()):
        assert "\x1b" not in text
        assert "x" * 400 not in text
