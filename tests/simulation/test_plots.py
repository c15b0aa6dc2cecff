"""Plots show the numbers of a study, with bands and bars of one standard error."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from hierbandits import Study
from hierbandits.simulation.line_styles import line_style
from hierbandits.simulation.plots import FEW_TICKS, error_bars, regret_curves
from hierbandits.simulation.study import Outcome


def _study():
    outcomes = {}
    for name, slope in (("HierTS", 1.0), ("TS", 3.0)):
        total = slope * np.array([1.0, 2.0, 6.0])
        curve, empty = np.outer(total, [0.5, 1.0]), np.zeros((3, 0, 1))
        outcomes[name] = Outcome(curve, total[:, None], total, total, empty, 0.0)
    return Study(np.array([5, 10]), outcomes)


def test_regret_curves_show_means_and_bands():
    study, axes = _study(), Figure().subplots()
    regret_curves(axes, study, "two policies")
    assert axes.get_title() == "two policies"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["HierTS", "TS"]
    for name, line, band in zip(study.outcomes, axes.lines, axes.collections, strict=True):
        mean, error = study.band(name)
        np.testing.assert_array_equal(line.get_xdata(), [5, 10])
        np.testing.assert_allclose(line.get_ydata(), mean)
        assert line.get_color() == line_style(name)[0]
        heights = band.get_paths()[0].vertices[:, 1]
        ends = [heights.min(), heights.max()]
        np.testing.assert_allclose(ends, [(mean - error).min(), (mean + error).max()])


@pytest.mark.parametrize("log", [False, True])
def test_error_bars_show_means_and_errors(log):
    axes, x = Figure().subplots(), [1, 2, 5]
    error_bars(axes, x, {"TS": [(4.0, 1.0), (3.0, 0.5), (9.0, 2.0)]}, "title", "L", log=log)
    bars = axes.containers[0]
    np.testing.assert_array_equal(bars.lines[0].get_ydata(), [4.0, 3.0, 9.0])
    ends = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
    assert ends == [[3.0, 5.0], [2.5, 3.5], [7.0, 11.0]]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("L", "regret", "title")
    assert axes.get_yscale() == ("log" if log else "linear")
    assert axes.get_xticks().tolist() == x
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "5"]


def test_many_values_have_whole_numbers_for_ticks():
    axes, x = Figure().subplots(), range(1, FEW_TICKS + 2)
    error_bars(axes, list(x), {"TS": [(1.0, 0.1)] * len(x)}, "title", "task")
    ticks = axes.get_xticks()
    assert len(ticks) != len(x)
    assert (ticks == ticks.round()).all()


@pytest.mark.parametrize("log", [False, True])
def test_errors_that_are_not_known_are_not_drawn(log):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    study = _study()
    one = Study(study.rounds, {name: _first_run(part) for name, part in study.outcomes.items()})
    regret_curves(left, one, "one run")
    error_bars(right, [1, 2], {"TS": [(4.0, np.nan), (3.0, np.nan)]}, "title", "L", log=log)
    figure.canvas.draw()
    assert all(len(path.vertices) == 0 for band in left.collections for path in band.get_paths())
    segments = right.containers[0].lines[2][0].get_segments()
    assert all(np.isnan(segment).any() or len(segment) == 0 for segment in segments)


def _first_run(outcome):
    parts = (outcome.curve, outcome.per_task, outcome.variance, outcome.explored, outcome.snapshots)
    return Outcome(*(part[:1] for part in parts), 0.0)
