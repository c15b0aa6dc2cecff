"""Intervals of learned widths cover at their rate, and zero is ruled out at its own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from support.fits import drawn_sums, objective_of, one_way

from hierbandits.fitting import fit_prior, search
from hierbandits.fitting import width_errors as errors
from hierbandits.fitting.weak_prior import WeakPrior


@pytest.mark.parametrize("structure", ["scalar", "diagonal", "full"])
def test_intervals_cover_at_their_rate(structure):
    """30 tasks, 200 data sets: each of the widths and the noise is within 6 standard errors."""
    rng = np.random.default_rng(7)
    runs, stds = 200, np.array([0.3, 0.3])
    inside = []
    for _ in range(runs):
        sums = drawn_sums(rng, tasks=30, events=15, task_cov=np.diag(stds**2), noise=0.5,
                      hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        task, noise = fit.task_widths, fit.noise_width
        low, high = np.append(task.low, noise.low), np.append(task.high, noise.high)
        truth = np.append(stds, 0.5)
        inside.append((low < truth) & (truth < high))
    cover = np.mean(inside, axis=0)
    assert (np.abs(cover - 0.95) < 6 * np.sqrt(0.95 * 0.05 / runs)).all(), cover


def test_widths_that_the_data_cannot_see_may_be_zero():
    """Tasks differ along the first feature alone: the second's interval starts at zero."""
    rng = np.random.default_rng(14)
    cov = np.diag([0.25, 1e-8])
    for armed in (False, True):
        sums = drawn_sums(rng, tasks=40, events=20, task_cov=cov, noise=0.5, hyper_cov=np.eye(2),
                      mean=np.ones(2), armed=armed)  # fmt: skip
        for structure in ("diagonal",) if armed else ("diagonal", "full", "low-rank"):
            widths = fit_prior(sums, structure=structure).task_widths
            assert widths.maybe_zero.tolist() == [False, True]
            assert widths.low[0] > 0.3
            assert widths.low[1] == 0.0
            assert widths.std[1] < 0.15


def test_errors_are_those_of_the_log_likelihoods_curvature():
    """One way, balanced, by textbook: the information of the two mean squares."""
    m, n = 40, 8
    sums, between, within, _ = one_way(np.random.default_rng(22), m, n, 0.6)
    fit = fit_prior(sums, weak_priors=False, tolerance=1e-11)
    # between ~ B chi2(m-1) / (m-1), B = noise + n task; within ~ noise chi2(m(n-1)) / (m(n-1))
    task, noise = fit.prior.task_cov[0], fit.prior.noise_std**2
    spread = 2 * between**2 / (m - 1), 2 * within**2 / (m * (n - 1))
    noise_error = np.sqrt(spread[1]) / noise / 2
    task_error = np.sqrt(spread[0] + spread[1]) / n / task / 2
    np.testing.assert_allclose(fit.noise_width.log_error, noise_error, rtol=1e-3)
    np.testing.assert_allclose(fit.task_widths.log_error, task_error, rtol=1e-3)


def test_zero_is_ruled_out_at_its_rate():
    """Where tasks do not differ, one in forty widths is taken for one that does."""
    rng = np.random.default_rng(23)
    runs = 100
    for structure, d in (("diagonal", 1), ("full", 2)):
        out = []
        for _ in range(runs):
            sums = drawn_sums(rng, tasks=20, events=15, task_cov=np.zeros((d, d)), noise=1.0,
                          hyper_cov=np.eye(d), mean=np.zeros(d))  # fmt: skip
            out.append(~fit_prior(sums, structure=structure).task_widths.maybe_zero)
        assert np.mean(out) < 0.025 + 4 * np.sqrt(0.025 * 0.975 / runs), structure


@pytest.mark.parametrize("width", [0.1, 0.3, 1.0])
def test_the_loss_at_zero_is_that_of_a_fit_without_the_width(width, monkeypatch):
    rng = np.random.default_rng(27)
    sums = drawn_sums(rng, tasks=30, events=15, task_cov=np.diag([width**2, 0.25]), noise=0.7,
                  hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
    problem, _ = objective_of(sums, 1, "diagonal", monkeypatch)
    problem = replace(problem, weak=WeakPrior.none())
    free, _ = search.search(problem, 200, 1e-9)
    hierarchy = problem.hierarchy(free)

    def without(others):
        value, slope = problem.value_and_slope(np.append(np.log(1e-4), others))
        return -value, -slope[1:]

    best = -minimize(without, free[1:], jac=True, method="L-BFGS-B").fun
    loss = errors._losses(problem, hierarchy, "task_cov")[0] * problem.structure.critical_loss
    exact = problem.expectation(hierarchy).log_evidence - best
    np.testing.assert_allclose(loss, exact, atol=0.01, rtol=0.01)
