"""What a fit refuses, and how it takes populations and empty tasks."""

import numpy as np
import pytest
from support.fits import drawn_sums, evenly, uneven_sums

from hierbandits import Belief, TaskSums
from hierbandits.fitting import fit_prior


def _taken(sums, rows):
    return TaskSums(*(getattr(sums, name)[rows] for name in ("xx", "xy", "yy", "n")))


@pytest.mark.parametrize("armed", [False, True])
def test_populations_may_have_any_size_and_order(armed):
    """The evidence is the sum of those of beliefs that each hold one population."""
    rng = np.random.default_rng(17)
    sums = drawn_sums(rng, tasks=6, events=12, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2), populations=5, armed=armed)  # fmt: skip
    kept = [0, 6, 7, 12, 13, 14, 15, 16, 18, 19, 24, 25, 26, 27]  # 1, 2, 5, 2 and 4 tasks
    sums, population = _taken(sums, kept), np.array(kept) // 6
    fit = fit_prior(sums, population=population)
    evidence = [
        Belief.from_sums(fit.prior, _taken(sums, np.flatnonzero(population == p))).log_evidence()
        for p in range(5)
    ]
    np.testing.assert_allclose(fit.log_evidence, np.sum(evidence), rtol=1e-10)
    mixed = rng.permutation(len(kept))
    names = rng.permutation(5)
    other = fit_prior(_taken(sums, mixed), population=names[population[mixed]])
    np.testing.assert_allclose(other.prior.task_cov, fit.prior.task_cov, rtol=1e-6)
    np.testing.assert_allclose(other.prior.hyper_cov, fit.prior.hyper_cov, rtol=1e-6)
    np.testing.assert_allclose(other.log_evidence, fit.log_evidence, rtol=1e-10)


def test_populations_without_data_change_nothing():
    rng = np.random.default_rng(18)
    sums = drawn_sums(rng, tasks=4, events=8, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2), populations=3)  # fmt: skip
    population = evenly(sums, 3)
    empty = TaskSums.zeros(5, 2)
    more = TaskSums(*(np.concatenate([getattr(empty, name), getattr(sums, name)])
                      for name in ("xx", "xy", "yy", "n")))  # fmt: skip
    longer = np.concatenate([[9, 0, 7, 3, 3], 2 * population + 4])
    one, two = fit_prior(sums, population=population), fit_prior(more, population=longer)
    np.testing.assert_allclose(two.prior.task_cov, one.prior.task_cov, rtol=1e-8)
    np.testing.assert_allclose(two.prior.hyper_cov, one.prior.hyper_cov, rtol=1e-8)
    lone = np.where(population == 1, 2, 0)  # the only data are in one of two populations
    quiet = _taken(sums, np.arange(12))
    for name in ("xx", "xy", "yy", "n"):
        getattr(quiet, name)[population == 1] = 0.0
    only = _taken(quiet, np.flatnonzero(population != 1))
    one, two = fit_prior(only), fit_prior(quiet, population=lone)
    np.testing.assert_allclose(two.prior.task_cov, one.prior.task_cov, rtol=1e-8)
    np.testing.assert_allclose(two.prior.hyper_cov, one.prior.hyper_cov, rtol=1e-8)
    assert np.isnan(two.hyper_widths.log_error).all()


def test_tasks_without_data_change_nothing():
    rng = np.random.default_rng(11)
    sums = drawn_sums(rng, tasks=10, events=8, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
    more = TaskSums.zeros(25, 2)
    for name in ("xx", "xy", "yy", "n"):
        getattr(more, name)[5:15] = getattr(sums, name)
    one, two = (fit_prior(part).prior.task_cov for part in (sums, more))
    np.testing.assert_allclose(two, one, rtol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"population": [0, 1]}, "population must have one entry for each of 4 tasks, got 2"),
        ({"population": [0, 1, 4, 0]}, r"population must be in \[0, 4\), got 4"),
        ({"population": [0, 1, -1, 0]}, r"population must be in \[0, 4\), got -1"),
        ({"population": [0.0, 1, 1, 0]}, "population must be integers"),
        ({"structure": "round"}, "structure must be one of"),
        ({"structure": "low-rank", "rank": 2}, "rank must be below the 2 features, got 2"),
        ({"rank": 0}, "rank must be a whole number"),
        ({"hyper_mean": [1.0]}, r"hyper_mean must have shape \(2,\) to match sums"),
        ({"hyper_cov": [1.0, 1.0]}, r"hyper_cov must have shape \(2, 2\) to match sums"),
        ({"hyper_cov": -np.eye(2)}, "hyper_cov must be positive semi-definite"),
        ({"noise_std": 0.0}, "noise_std must be positive"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1"),
        ({"tolerance": -1.0}, "tolerance must be positive"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    sums = TaskSums.zeros(4, 2)
    sums.add([0, 1], np.eye(2), [1.0, 2.0])
    with pytest.raises(ValueError, match=message):
        fit_prior(sums, **arguments)


def test_bad_sums_are_named():
    with pytest.raises(ValueError, match="sums must be TaskSums"):
        fit_prior([1.0])
    sums = TaskSums.zeros(2, 2, armed=True)
    for features in (TaskSums.zeros(2, 3), TaskSums.zeros(2, 1, armed=True)):
        with pytest.raises(ValueError, match="structure must not be 'common' unless there are"):
            fit_prior(features, structure="common")
    for structure in ("diagonal", "full"):
        with pytest.raises(ValueError, match="hyper_cov must not be negative"):
            fit_prior(sums, structure=structure, hyper_cov=[1.0, -1.0])
    with pytest.raises(ValueError, match="hyper_cov must be positive semi-definite"):
        fit_prior(sums, structure="full", hyper_cov=[[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"hyper_cov must have shape \(2,\)"):
        fit_prior(sums, hyper_cov=np.eye(2))
    sums.yy[1] = -1.0
    with pytest.raises(ValueError, match=r"sums\.yy must not be negative"):
        fit_prior(sums)
    sums.yy[1] = np.nan
    with pytest.raises(ValueError, match=r"sums\.yy must be finite"):
        fit_prior(sums)


def test_squares_must_go_with_the_sums():
    sums, squares = uneven_sums(np.random.default_rng(0), [0.5, 1.0], tasks=4, events=6)
    with pytest.raises(ValueError, match=r"squares must have shape \(4, 2\)"):
        fit_prior(sums, squares=squares.sum(1))
    with pytest.raises(ValueError, match=r"squares must add up to sums\.yy, got .* for the task 2"):
        fit_prior(sums, squares=squares * np.array([1, 1, 1.1, 1])[:, None])
    with pytest.raises(ValueError, match="squares must be given for arms alone"):
        fit_prior(sums.with_unit_vectors(), squares=squares)
    with pytest.raises(ValueError, match=r"squares must not be given with a noise_std, got 0\.5"):
        fit_prior(sums, squares=squares, noise_std=0.5)
