"""The findings as words, tables and pictures."""

import numpy as np
import polars as pl
import pytest
from support.learn_logs import drawn, learned, sums_of

import hierbandits as hb
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.sections import comparison_section, similarity_section


def test_means_are_shown_in_the_digits_that_their_errors_leave():
    rows = drawn(36, armed=True, tasks=12, events=30)
    lifted = rows.frame().with_columns(pl.col("revenue") + 1000)
    _, report = hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)
    means = [float(row[1]) for row in report.sections()[1].rows]
    mean, std = report.similarity.mean[0], report.similarity.mean_std[0]
    assert (np.abs(means - mean) < std / 10).all()


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 3)])
def test_every_table_is_complete(armed, populations):
    _, _, report = learned(armed, populations)
    sections = {section.name: section for section in report.sections()}
    assert list(sections) == [
        "evidence", "widths", "structure", "forest", "shrinkage", "outliers", "calibration",
        "scores", "checks", "regret", "unseen",
    ]  # fmt: skip
    for section in sections.values():
        assert {len(row) for row in section.rows} == {len(section.columns)}
        assert all(section.words)
    assert sections["unseen"].heading == "What it cannot see"
    widths = sections["widths"]
    assert widths.columns[:2] == (
        ["arm", "mean"] if populations == 1 else ["feature", "between populations"]
    )
    place = list(widths.columns).index("task std")
    shown = [float(row[place]) for row in widths.rows]
    np.testing.assert_allclose(shown, report.similarity.task_std, rtol=5e-3)
    scores = {row[0]: row[2] for row in sections["scores"].rows}
    assert scores["hierarchical"] == ""
    assert scores["pooled"] == f"{report.calibration.advantage['pooled'][0]:+.4f}"


@pytest.mark.parametrize(("width", "at_end"), [(0.0, True), (1.0, False)])
def test_equal_tasks_leave_task_widths_at_the_low_end(width, at_end):
    rows = drawn(5, armed=True, tasks=30, events=40, task_std=width, noise=1.0)
    comparison = Comparison.of(sums_of(rows), rows.population)
    words = comparison_section(comparison, learned(True)[2].similarity).words
    told = "hierarchical task width at the low end"
    assert any(told in word for word in words) == at_end


@pytest.mark.parametrize(("tasks", "stated"), [(2, "in 85 %"), (3, "in 90 %"), (5, "in 93 %")])
def test_few_tasks_say_how_often_their_own_number_of_tasks_holds(tasks, stated):
    rows = drawn(5, armed=True, tasks=tasks, events=60)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, structure="diagonal", held_out=0, runs=0
    )
    words = " ".join(similarity_section(report.similarity).words)
    assert stated in words
    _, _, many = learned(True)
    assert "are meant to hold" not in " ".join(similarity_section(many.similarity).words)
