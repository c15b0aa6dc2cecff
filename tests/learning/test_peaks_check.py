"""Groups of tasks."""

import numpy as np
import pytest

from hierbandits import TaskSums
from hierbandits.learning.peaks_check import check_peaks, two_groups


def test_two_groups_are_found_where_they_are():
    rng = np.random.default_rng(0)
    high = rng.random(400) < 0.3
    error = rng.uniform(0.01, 0.2, 400)
    values = np.where(high, 5.0, 1.0) + rng.normal(size=400) * np.sqrt(0.4**2 + error)
    groups = two_groups(values, error)
    assert groups.log_odds > 20
    assert groups.are_apart
    assert (groups.low, groups.high) == pytest.approx((1.0, 5.0), abs=0.2)
    assert groups.share == pytest.approx(high.mean(), abs=0.03)
    assert groups.std == pytest.approx(np.sqrt(0.4**2 + error.mean()), rel=0.15)
    turned = two_groups(-values, error)
    assert turned.share == pytest.approx(1 - groups.share, abs=1e-3)
    assert turned.log_odds == pytest.approx(groups.log_odds, abs=0.01)


def test_one_group_has_odds_against_two():
    rng = np.random.default_rng(1)
    odds = [two_groups(rng.normal(size=60), np.full(60, 0.1)).log_odds for _ in range(20)]
    assert np.mean(np.array(odds) < 0) > 0.8


def test_a_skewed_group_has_one_peak():
    groups = two_groups(np.random.default_rng(2).exponential(size=500), np.full(500, 0.01))
    assert groups.log_odds > 3  # it is no Gaussian
    near = two_groups(np.random.default_rng(3).normal(size=500) ** 3, np.full(500, 0.01))
    assert not near.are_apart


def test_few_tasks_are_not_sorted_into_groups():
    sums = TaskSums.zeros(10, 2, armed=True)
    sums.add(np.repeat(np.arange(10), 4), np.tile([0, 1], 20), np.arange(40.0))
    check = check_peaks(sums, np.zeros(10, np.intp), np.ones(2), ("a", "b"), 0)
    assert not check.is_made
