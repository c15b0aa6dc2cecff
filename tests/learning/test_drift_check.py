"""Early against late rows."""

import numpy as np
import pytest
from scipy import stats
from support.learn_logs import drawn, sums_of

from hierbandits.learning.drift_check import check_drift


def _square(x, y):
    return float(np.square(y - x @ np.linalg.lstsq(x, y, rcond=None)[0]).sum())


@pytest.mark.parametrize("armed", [True, False])
def test_the_tests_are_those_of_dense_least_squares(armed):
    """Blocks of x for each task; x once more for late rows, of all tasks or of each."""
    rows = drawn(3, armed=armed, tasks=6, events=30, d=2)
    late = np.random.default_rng(0).random(rows.task.size) < 0.4
    own = np.zeros((rows.task.size, 12))
    for e, s in enumerate(rows.task):
        own[e, 2 * s : 2 * s + 2] = rows.vectors[e]
    y, shared, apart = rows.rewards, rows.vectors * late[:, None], own * late[:, None]
    plain, common, split = (
        _square(x, y) for x in (own, np.hstack([own, shared]), np.hstack([own, apart]))
    )
    n = y.size
    p_common = stats.f.sf((plain - common) / 2 / (common / (n - 14)), 2, n - 14)
    p_own = stats.f.sf((common - split) / 10 / (split / (n - 24)), 10, n - 24)
    check = check_drift(sums_of(rows, ~late), sums_of(rows, late), ("a", "b"))
    assert check.p_value == pytest.approx(min(1.0, 2 * min(p_common, p_own)), rel=1e-6)


@pytest.mark.parametrize("armed", [True, False])
def test_the_effect_is_the_change_in_units_of_the_noise(armed):
    rows = drawn(4, armed=armed, tasks=40, events=200, d=2, noise=0.5)
    late = np.random.default_rng(0).random(rows.task.size) < 0.5
    rows.rewards[:] += np.where(late, rows.vectors[:, 1] * -0.4, 0.0)
    check = check_drift(sums_of(rows, ~late), sums_of(rows, late), ("a", "b"))
    assert check.about == ("b",)
    assert check.effect == pytest.approx(-0.8, rel=0.15)
    jumps = 0.7 * np.random.default_rng(1).normal(size=40)
    rows.rewards[:] += np.where(late, rows.vectors[:, 1] * (0.4 + jumps[rows.task]), 0.0)
    check = check_drift(sums_of(rows, ~late), sums_of(rows, late), ("a", "b"))
    assert check.p_value < 1e-6
    assert check.effect == pytest.approx(1.4 / np.sqrt(2), rel=0.35)  # one coordinate of two


def test_tails_make_a_drift_of_tasks_less_sure():
    rows = drawn(4, armed=True, tasks=40, events=12, d=2)
    late = np.random.default_rng(0).random(rows.task.size) < 0.5
    jumps = 0.5 * np.random.default_rng(1).normal(size=40)
    rows.rewards[:] += np.where(late, jumps[rows.task], 0.0)
    halves = sums_of(rows, ~late), sums_of(rows, late)
    sure, less = (check_drift(*halves, ("a", "b"), tails) for tails in (0.0, 20.0))
    assert sure.p_value < less.p_value


def test_halves_that_no_task_shares_cannot_be_compared():
    rows = drawn(4, armed=True, tasks=10, events=20)
    late = rows.task >= 5
    assert not check_drift(sums_of(rows, ~late), sums_of(rows, late), ("a", "b", "c")).is_made
