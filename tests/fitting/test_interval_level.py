"""How sure intervals are meant to be: less if they rest on few tasks."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2
from support.fits import objective_of

from hierbandits import TaskSums
from hierbandits.fitting.interval_level import (
    LARGEST_LOSS,
    allowed_loss,
    held_without_noise,
    hyper_freedom,
    miss_rates,
    task_freedom,
)


def test_the_rates_of_misses_fall_to_five_percent():
    np.testing.assert_allclose(miss_rates(np.array([1, 2, 3])), [0.1, 0.075, 0.0625])
    np.testing.assert_allclose(miss_rates(np.array([19.0, 499.0])), 0.05, rtol=1e-5)
    assert allowed_loss(19) == pytest.approx(LARGEST_LOSS, rel=1e-5)
    np.testing.assert_allclose(LARGEST_LOSS, 1.9207294)


@pytest.mark.parametrize(
    ("freedom", "held", "length"),
    [(1, 0.85, 2.7), (2, 0.90, 1.75), (3, 0.92, 1.5), (4, 0.93, 1.4), (19, 0.945, 1.1)],
)
def test_without_noise_widths_are_held_at_this_rate_and_length(freedom, held, length):
    """The table of docs/learning.md: a mean square x of so many degrees, about a width of 1.

    The log likelihood of a variance v is -freedom / 2 (log v + x / v); a bootstrap's interval goes
    from percentile to percentile of sqrt(x).
    """

    def excess(x):
        return freedom / 2 * (x - 1 - np.log(x)) - allowed_loss(freedom)

    low, high = brentq(excess, 1e-9, 1.0), brentq(excess, 1.0, 1e3)
    rate = chi2.cdf(freedom * high, freedom) - chi2.cdf(freedom * low, freedom)
    percentiles = np.sqrt(chi2.ppf([0.025, 0.975], freedom) / freedom)
    assert rate >= held
    assert held_without_noise(freedom) == pytest.approx(rate, abs=1e-9)
    assert (low**-0.5 - high**-0.5) / np.ptp(percentiles) <= length


def test_freedom_counts_tasks_that_have_data_of_an_arm(monkeypatch):
    """Two populations of three tasks; of the last arm each has one task."""
    counts = np.array(
        [[2, 1, 1], [3, 2, 0], [1, 0, 0], [4, 2, 0], [1, 5, 2], [2, 0, 0]], float
    )  # fmt: skip
    means = np.random.default_rng(5).normal(size=counts.shape)
    sums = TaskSums(counts, counts * means, counts.sum(1) * 5, counts.sum(1))
    problem, _ = objective_of(sums, 2, "diagonal", monkeypatch)
    np.testing.assert_array_equal(task_freedom(problem), [4, 2, 0])
    np.testing.assert_array_equal(hyper_freedom(problem), [1, 1, 1])
