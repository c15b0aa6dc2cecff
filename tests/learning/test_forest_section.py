"""The forest plot: every task's posterior, in order."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from support.learn_logs import drawn, learned, other_prior, posteriors, sums_of

from hierbandits.learning.forest_section import (
    MOST_DRAWN,
    draw_forest,
    forest_section,
    lookup,
    shown_tasks,
)
from hierbandits.learning.shrinkage import Shrinkage

NORMAL = 1.959964


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 3)])
def test_points_are_the_posteriors_in_order(armed, populations):
    report = learned(armed, populations)[2]
    shrinkage, similarity = report.shrinkage, report.similarity
    figure = draw_forest(shrinkage, similarity)
    assert len(figure.axes) == 3
    for j, axes in enumerate(figure.axes):
        order = shown_tasks(shrinkage, j)
        line, _, (bars,) = axes.containers[0]
        np.testing.assert_array_equal(line.get_xdata(), np.sort(shrinkage.mean[order, j]))
        ends = np.array([bar[:, 0] for bar in bars.get_segments()])
        half = np.diff(ends, axis=1)[:, 0] / 2
        np.testing.assert_allclose(half, NORMAL * shrinkage.std[order, j], rtol=1e-6)
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert labels == [shrinkage.tasks[s] for s in order]
        assert axes.get_title() == str(shrinkage.coordinates[j])
        greys = [line.get_xdata()[0] for line in axes.lines[: 2 * populations]]
        assert set(similarity.mean[:, j]) <= {float(value) for value in greys}


def test_the_lowest_and_the_highest_are_shown_where_there_are_many():
    shrinkage = learned(True)[2].shrinkage
    assert len(shrinkage.tasks) == 30 > MOST_DRAWN
    order = shown_tasks(shrinkage, 1)
    left = np.setdiff1d(np.arange(30), order)
    assert order.size == MOST_DRAWN
    low, high = (shrinkage.mean[part, 1] for part in (order[:12], order[12:]))
    assert low.max() <= shrinkage.mean[left, 1].min()
    assert high.min() >= shrinkage.mean[left, 1].max()


def test_the_caption_says_what_this_log_shows():
    report = learned(True)[2]
    section = forest_section(report.shrinkage, report.similarity)
    gap = np.ptp(report.shrinkage.mean, axis=0)
    widest = int(gap.argmax())
    values = report.shrinkage.mean[:, widest]
    assert section.caption.startswith(
        f"By these estimates tasks are furthest apart with a{widest}, from {values.min():.3g} to "
        f"{values.max():.3g}"
    )
    assert "The 12 lowest and the 12 highest tasks are shown, and 6 are not." in section.caption
    names = [row[1] for row in section.rows]
    assert names == [report.shrinkage.tasks[s] for s in report.shrinkage.mean.argmin(axis=0)]


def test_all_tasks_can_be_found_with_the_means_of_their_populations():
    report = learned(False, 3)[2]
    html = lookup(report.shrinkage, report.similarity, np.array([4, 2]))
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    assert data["items"] == list(report.shrinkage.tasks)
    assert data["homes"] == list(report.similarity.populations)
    assert data["remarks"][0] == f"{report.shrinkage.rows[0]:.0f} rows"
    np.testing.assert_allclose(np.array(data["mean"]).T, report.shrinkage.mean, rtol=1e-3)
    np.testing.assert_allclose(np.array(data["homeMean"]).T, report.similarity.mean, rtol=1e-3)
    assert "All 30 tasks are here." in html


def test_tasks_keep_the_population_that_they_belong_to():
    rows = drawn(5, armed=True, populations=3)
    prior = other_prior(rows)
    known = posteriors(prior, sums_of(rows), rows.population)
    shrinkage = Shrinkage.of(known, sums_of(rows).n, tuple(rows.names), ("a", "b", "c"))
    np.testing.assert_array_equal(shrinkage.population, rows.population)


def test_one_arm_has_no_closest():
    report = learned(True)[2]
    assert "closest" in forest_section(report.shrinkage, report.similarity).caption
    one = replace(report.similarity, pairs_seen=np.array([0, 9, 0]))  # the others are not told
    section = forest_section(report.shrinkage, one)
    assert "closest" not in section.caption
    assert [row[0] for row in section.rows] == ["a1"]


def test_tasks_that_stand_out_are_found_among_many(monkeypatch):
    monkeypatch.setattr("hierbandits.reporting.interval_lookup.MOST_ITEMS", 5)
    report = learned(True)[2]
    least = np.argsort(report.shrinkage.rows, kind="stable")[:2]
    html = lookup(report.shrinkage, report.similarity, least)
    for task in least:
        assert f'"{report.shrinkage.tasks[task]}"' in html
    most = int(report.shrinkage.rows.argmax())
    assert f'"{report.shrinkage.tasks[most]}"' in html
    assert "5 of 30 tasks are here; they stand out or have the most rows" in html
