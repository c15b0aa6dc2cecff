"""The pictures of a learning report."""

from dataclasses import replace

import numpy as np
import pytest
from support.learn_logs import learned

from hierbandits.learning.learning_figures import (
    MOST_POPULATIONS,
    draw_calibration,
    draw_evidence,
    draw_outliers,
    draw_shrinkage,
    draw_widths,
    note_on_shown,
)
from hierbandits.learning.sections import similarity_section


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 3)])
def test_widths_are_where_the_numbers_are(armed, populations):
    _, _, report = learned(armed, populations)
    left, right = draw_widths(report.similarity).axes
    assert len(left.containers) == populations
    np.testing.assert_array_equal(
        right.containers[0].lines[0].get_xdata(), report.similarity.task_std
    )
    assert [tick.get_text() for tick in right.get_yticklabels()] == list(
        report.similarity.coordinates
    )


def test_the_best_model_falls_short_by_nothing():
    comparison = learned(True)[2].comparison
    left, right = draw_evidence(comparison).axes
    short = dict(
        zip(comparison.log_evidence, [bar.get_width() for bar in left.patches], strict=True)
    )
    assert short[comparison.best] == 0
    assert min(short.values()) == 0 < max(short.values())
    for line in right.lines:
        assert line.get_ydata().max() == pytest.approx(1.0)


def test_every_task_is_a_point():
    _, _, report = learned(True)
    (axes,) = draw_shrinkage(report.shrinkage).axes
    points = axes.collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 1], report.shrinkage.weight)
    (axes,) = draw_outliers(report.outliers).axes
    assert sum(len(part.get_offsets()) for part in axes.collections) == report.num_tasks


def test_coverage_is_drawn_against_what_is_stated():
    calibration = learned(True)[2].calibration
    _, right = draw_calibration(calibration).axes
    np.testing.assert_array_equal(right.containers[0].lines[0].get_ydata(), calibration.coverage)


def test_a_picture_that_does_not_show_all_says_so():
    assert note_on_shown(["a"] * 24, 24, "arms") == ""
    assert note_on_shown(["a"] * 25, 24, "arms") == " The first 24 of 25 arms are shown."


def test_intervals_are_drawn_as_they_are_and_those_without_a_limit_go_past_the_others():
    similarity = learned(True)[2].similarity
    high = similarity.task_high.copy()
    high[0] = np.inf
    left, right = draw_widths(replace(similarity, task_high=high)).axes
    (means,), (widths,) = (axes.containers[0].lines[2] for axes in (left, right))
    drawn = np.array([segment[:, 0] for segment in means.get_segments()])
    np.testing.assert_allclose(drawn[:, 0], similarity.mean_low[0])
    np.testing.assert_allclose(drawn[:, 1], similarity.mean_high[0])
    ends = np.array([segment[1, 0] for segment in widths.get_segments()])
    assert ends[0] > np.delete(similarity.task_std, 0).max()
    np.testing.assert_allclose(ends[1:], high[1:])


def test_only_the_first_populations_are_drawn():
    similarity = learned(False, 3)[2].similarity
    many = replace(
        similarity,
        populations=tuple(f"p{p}" for p in range(MOST_POPULATIONS + 1)),
        mean=np.repeat(similarity.mean[:1], MOST_POPULATIONS + 1, axis=0),
        mean_low=np.repeat(similarity.mean_low[:1], MOST_POPULATIONS + 1, axis=0),
        mean_high=np.repeat(similarity.mean_high[:1], MOST_POPULATIONS + 1, axis=0),
    )
    left, _ = draw_widths(many).axes
    shown = [text.get_text() for text in left.get_legend().get_texts()]
    assert shown == list(many.populations[:MOST_POPULATIONS])
    assert similarity_section(many).caption.endswith(" The first 8 of 9 populations are shown.")
