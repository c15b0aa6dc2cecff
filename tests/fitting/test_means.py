"""Intervals of what tasks have in common."""

import numpy as np
import pytest
from scipy.stats import t as student
from support.fits import drawn_sums, evenly, one_way

from hierbandits import Belief, TaskSums
from hierbandits.fitting import fit_prior


def test_few_balanced_tasks_give_students_interval():
    """One way: the mean of m tasks' means has m - 1 degrees of freedom, noise or not."""
    m, n = 6, 8
    sums, between, _, y = one_way(np.random.default_rng(60), m, n, 1.5)
    means = fit_prior(sums, weak_priors=False, tolerance=1e-11).means
    np.testing.assert_allclose(means.freedom, m - 1, rtol=1e-2)
    np.testing.assert_allclose(means.mean, y.mean(), rtol=1e-3)
    reach = student.ppf(1 - (0.05 + 0.1 / 2 ** (m - 1)) / 2, m - 1) * np.sqrt(between / (m * n))
    np.testing.assert_allclose(means.high - means.low, 2 * reach, rtol=1e-2)


@pytest.mark.parametrize("structure", ["diagonal", "common", "full"])
def test_means_are_those_of_the_belief(structure):
    rng = np.random.default_rng(61)
    sums = drawn_sums(rng, tasks=8, events=20, task_cov=0.25 * np.eye(3), noise=0.7,
                      hyper_cov=np.eye(3), mean=np.ones(3), populations=2, armed=True)  # fmt: skip
    fit = fit_prior(sums, population=evenly(sums, 2), structure=structure)
    belief = Belief.from_sums(fit.prior, sums, population=evenly(sums, 2))
    for p in range(2):
        hyper = belief.hyper(p)
        np.testing.assert_allclose(fit.means.mean[p], hyper.mean, rtol=1e-6)
        variances = hyper.cov if hyper.cov.ndim == 1 else np.diagonal(hyper.cov)
        np.testing.assert_allclose(fit.means.std[p], np.sqrt(variances), rtol=1e-6)
    assert (fit.means.low < fit.means.mean).all()
    assert (fit.means.freedom >= 1).all()


@pytest.mark.parametrize("width", [0.0, 3.0])
def test_the_weak_prior_makes_no_interval_of_a_mean_longer(width):
    """One way, 3 tasks: it is Student's, with the tasks' mean square or, if larger, the noise's."""
    n, rng = 30, np.random.default_rng(63)
    for _ in range(5):
        sums, between, within, _ = one_way(rng, 3, n, width)
        means = fit_prior(sums).means
        both = (2 * between + 3 * (n - 1) * within) / (2 + 3 * (n - 1))  # if tasks do not differ
        reach = student.ppf(1 - 0.075 / 2, 2) * np.sqrt(max(between, both) / (3 * n))
        np.testing.assert_allclose((means.high - means.low)[0] / 2, reach, rtol=0.05)


def test_a_task_of_very_many_rows_is_not_taken_for_the_mean():
    """Three tasks that differ by 0.3, of 10, 10 and 100,000 rows of one arm, with noise 1."""
    rng, held, counts = np.random.default_rng(64), [], np.array([10, 10, 100_000])
    for _ in range(60):
        mean = 0.3 * rng.normal(size=3) + rng.normal(size=3) / np.sqrt(counts)
        yy = rng.chisquare(counts - 1) + counts * mean**2
        sums = TaskSums(counts[:, None] * 1.0, (counts * mean)[:, None], yy, counts * 1.0)
        means = fit_prior(sums).means
        held.append(means.low[0, 0] <= 0.0 <= means.high[0, 0])
    assert np.mean(held) >= 0.925 - 3 * np.sqrt(0.925 * 0.075 / 60)


def test_three_tasks_have_two_degrees_of_freedom_and_two_have_one():
    rng = np.random.default_rng(62)
    for tasks, least in ((2, 1), (3, 2)):
        freedom = [
            fit_prior(drawn_sums(rng, tasks=tasks, events=6, task_cov=np.eye(3), noise=0.7,
                                 hyper_cov=np.eye(3), mean=np.ones(3))).means.freedom.min()
            for _ in range(4)
        ]  # fmt: skip
        assert min(freedom) == least
