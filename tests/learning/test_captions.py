"""Captions hold the numbers of the log."""

from dataclasses import replace

import numpy as np
import pytest
from support.learn_logs import drawn, learned

import hierbandits as hb
from hierbandits.learning import captions
from hierbandits.learning.calibration import Cells
from hierbandits.learning.correlations import Correlations
from hierbandits.reporting.rounding import short_number


@pytest.fixture(scope="module")
def report():
    return learned(True)[2]


def test_widths_name_the_widest_and_those_that_may_be_zero(report):
    std = np.array([0.1, 0.9, 0.4])
    known = replace(report.similarity, task_std=std, maybe_zero=np.zeros(3, bool))
    text = captions.of_widths(known)
    assert text.startswith(
        "By these estimates tasks differ most with a1, by a width of 0.9, and least with a0, by 0.1"
    )
    assert f"the noise of one reward is {known.noise_std:.3g}." in text
    assert "none of the widths has one that begins at zero" in text
    unsure = replace(known, maybe_zero=np.array([True, False, True]))
    assert "does not tell 2 of 3 widths from zero" in captions.of_widths(unsure)
    assert "tasks differ most with a1" in captions.of_widths(unsure)


def test_widths_that_are_one_number_or_may_be_zero_are_not_ranked(report):
    """One width for all arms makes none the widest; equal tasks do not differ at all."""
    similarity, none = report.similarity, np.zeros(3, bool)
    one = replace(similarity, task_std=np.full(3, 0.7), maybe_zero=none)
    assert captions.of_widths(one).startswith("Tasks differ by a width of 0.7 with all arms")
    for std in ([0.1, 0.9, 0.4], [0.7, 0.7, 0.7]):
        zero = replace(similarity, task_std=np.array(std), maybe_zero=~none)
        text = captions.of_widths(zero)
        assert text.startswith("Tasks may not differ: ")
        assert "Tasks differ" not in text
        assert "differ most" not in text


@pytest.mark.parametrize("widest", [0, 2])
def test_the_arm_that_tasks_differ_most_with_is_named(widest):
    """Widths of 0.3, and of 1.5 for one arm; of one noise in another log, where none differs."""
    std = np.where(np.arange(3) == widest, 1.5, 0.3)
    asked = {"structure": "diagonal", "held_out": 0, "runs": 0, "progress": False}
    rows = drawn(3, armed=True, tasks=25, events=40, task_cov=np.diag(std**2))
    made = hb.learn_prior(rows.frame(), **rows.arguments, **asked)[1]
    text = captions.of_widths(made.similarity)
    assert text.startswith(f"By these estimates tasks differ most with a{widest}, ")
    forest = next(section for section in made.sections() if section.name == "forest")
    assert f"tasks are furthest apart with a{widest}, " in forest.caption
    rows = drawn(3 + widest, armed=True, tasks=25, events=40, task_std=0.0)
    equal = hb.learn_prior(rows.frame(), **rows.arguments, **asked)[1]
    assert captions.of_widths(equal.similarity).startswith("Tasks may not differ: ")


@pytest.mark.parametrize("pair", [(0, 1), (1, 2)])
def test_the_arms_that_move_together_are_named(pair):
    """These two have a correlation of 0.9, all others of none."""
    cov = np.eye(3)
    cov[pair] = cov[pair[::-1]] = 0.9
    rows = drawn(3, armed=True, tasks=60, events=40, task_cov=cov)
    asked = {"structure": "full", "held_out": 0, "runs": 0, "progress": False}
    correlations = hb.learn_prior(rows.frame(), **rows.arguments, **asked)[1].correlations
    text = captions.of_correlations(correlations, "arm")
    assert f"highest between a{pair[0]} and a{pair[1]}, " in text
    np.testing.assert_allclose(correlations.matrix, cov, atol=0.35)


def test_evidence_is_counted_from_the_best(report):
    logs, best = report.comparison.log_evidence, report.comparison.best
    text = captions.of_evidence(report.comparison)
    assert f"below {best}, which is best" in text
    for name, value in logs.items():
        assert (f"{name} {short_number(logs[best] - value)}" in text) == (name != best)


def test_shrinkage_names_the_tasks_with_fewest_and_most_rows(report):
    shrinkage = report.shrinkage
    few, many = int(shrinkage.rows.argmin()), int(shrinkage.rows.argmax())
    text = captions.of_shrinkage(shrinkage)
    assert f"Of fewest rows, {shrinkage.tasks[few]}, with {shrinkage.rows[few]:.0f} of " in text
    assert f"of most, {shrinkage.tasks[many]}, with {shrinkage.rows[many]:.0f} of them" in text
    assert f"{100 * shrinkage.weight[many]:.2g} %" in text


def test_outliers_name_the_smallest_p_value(report):
    outliers = report.outliers
    first = int(outliers.p_value.argmin())
    text = captions.of_outliers(outliers)
    assert text.startswith(f"{outliers.flagged.sum()} of 30 tasks are flagged.")
    assert f"{outliers.p_value[first]:.2g}, of {outliers.tasks[first]};" in text
    assert f"about {1 - 0.5 ** (1 / 30):.2g}." in text


def test_calibration_says_what_ninety_percent_cover(report):
    calibration = report.calibration
    text = captions.of_calibration(calibration)
    assert f"cover {100 * calibration.coverage[2]:.1f} ± " in text
    assert "held-out rewards. Left" in text
    cells = Cells(
        count=40, histogram=calibration.histogram, coverage=np.array([0.5, 0.8, 0.875, 0.9]),
        coverage_error=np.full(4, 0.05), z_std=1.0,
    )  # fmt: skip
    both = captions.of_calibration(replace(calibration, cells=cells))
    assert "held-out rewards and 87.5 ± 5.0 % of 40 means. Left" in both


def test_correlations_name_the_pairs():
    cov = np.array([[1.0, 0.2, 0.5], [0.2, 1.0, -0.3], [0.5, -0.3, 1.0]])
    prior = hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_cov=cov, noise_std=1.0)
    text = captions.of_correlations(Correlations.of(prior, ("a", "b", "c")), "arm")
    pairs = "lowest between b and c, -0.30 and highest between a and c, 0.50"
    assert text.startswith(f"The correlation is {pairs}.")
    two = hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_cov=cov[:2, :2], noise_std=1.0)
    text = captions.of_correlations(Correlations.of(two, ("a", "b")), "arm")
    assert text.startswith("The correlation of the two arms is 0.20.")


def test_promises_give_the_regret_of_all_who_play(report):
    text = captions.of_promises(report.promises, "this start", 0.9)
    for tasks in report.promises.num_tasks:
        for name in report.promises.policies:
            drawn_end = report.promises.of(tasks, name).band()[0][-1]
            assert f"{name} {short_number(drawn_end)}" in text
    assert f"over {report.promises.runs} worlds and the tasks in which all play" in text


def test_one_world_promises_nothing():
    rows = drawn(35, armed=True)
    with pytest.raises(ValueError, match="runs must be 0 or at least 2, got 1"):
        hb.learn_prior(rows.frame(), **rows.arguments, runs=1)


def test_widths_that_are_not_told_are_not_named(report):
    """One arm of three has data of one task alone; or no reward repeats."""
    similarity = report.similarity
    std = similarity.task_std + np.array([0.0, np.nan, 0.0])
    some = replace(similarity, task_std=std, pairs_seen=np.array([5, 0, 5]))
    text = captions.of_widths(some)
    assert "nan" not in text
    assert "a1" not in text
    assert "of 3 widths" not in text
    none = replace(similarity, task_std=np.full(3, np.nan), repeats=0)
    text = captions.of_widths(none)
    assert "nan" not in text
    assert "differ most" not in text
    assert "this log cannot tell" in text


def test_tasks_of_as_many_rows_are_not_told_apart_by_them(report):
    even = replace(report.shrinkage, rows=np.full(30, 7.0), weight=np.linspace(0.2, 0.6, 30))
    text = captions.of_shrinkage(even)
    assert text.startswith("Every task has 7 rows, and takes 20 % to 60 % of its estimate")
    assert "fewest" not in text


def test_a_caption_of_no_means_says_nothing_of_them(report):
    alone = replace(report.calibration, cells=None)
    assert "Means are" not in captions.of_calibration(alone)
