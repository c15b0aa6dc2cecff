"""The weak priors of a fit."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums, objective_of
from support.oracle import random_cov

from hierbandits import TaskSums
from hierbandits.fitting import fit_prior
from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.weak_prior import WeakPrior


def test_the_weak_priors_are_as_documented(monkeypatch):
    rng = np.random.default_rng(16)
    cov = random_cov(rng, 3)
    documented = (np.linalg.slogdet(cov)[1] - np.trace(cov)) / 2
    np.testing.assert_allclose(WeakPrior.of("full", 3).log_covariance(cov), documented)
    for armed in (False, True):
        var = np.full(3, 0.3)
        value = WeakPrior.of("scalar", 3).log_covariance(var if armed else np.diag(var))
        np.testing.assert_allclose(value, (np.log(0.3) - 0.3) / 2)
    problem, _ = objective_of(TaskSums.zeros(2, 3), 1, "full", monkeypatch)
    hierarchy = HierarchyParts(np.zeros(3), np.eye(3), cov, 0.2)
    noise = -(np.log(0.2) + 1 / 0.2) / 200
    np.testing.assert_allclose(problem.log_prior(hierarchy), documented + noise)


def test_no_events_need_weak_priors():
    with pytest.raises(ValueError, match="sums must hold an event when weak_priors is False"):
        fit_prior(TaskSums.zeros(3, 2), weak_priors=False)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
def test_three_tasks_give_sensible_widths(structure, armed):
    rng = np.random.default_rng(9)
    for _ in range(10):
        sums = drawn_sums(rng, tasks=3, events=6, task_cov=0.09 * np.eye(4), noise=0.5,
                      hyper_cov=np.eye(4), mean=np.zeros(4), armed=armed)  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        assert (fit.task_widths.std > 0.003).all()
        assert (fit.task_widths.std < 3.0).all()
        assert 0.05 < fit.prior.noise_std < 2.0


def test_the_density_of_noises_integrates_to_that_of_one():
    """Over what all but their mean may be: then one noise and several can be compared."""
    weak, mean = WeakPrior.of("diagonal", 2), 0.3
    apart = np.linspace(-8, 8, 4001)  # of the first from the mean; the second is opposite
    logs = [weak.log_noise(np.array([mean + a, mean - a])) for a in apart]
    # d l_1 d l_2 = 2 d mean d apart
    whole = np.log(2 * np.trapezoid(np.exp(logs), apart))
    assert whole == pytest.approx(weak.log_noise(np.array([mean])), abs=1e-6)
    assert WeakPrior.none().log_noise(np.array([0.3, 4.0])) == 0.0


@pytest.mark.parametrize("weak", [WeakPrior.of("diagonal", 3), WeakPrior.none()])
def test_the_best_noises_are_at_the_top(weak):
    rng = np.random.default_rng(4)
    for _ in range(20):
        events = rng.integers(0, 50, 3).astype(float) + (weak.noise_weight == 0)
        square = events * np.exp(rng.normal(0, 3, 3)) + 1e-12
        start = rng.normal(0, 2, 3)
        at = weak.best_noise(square, events, start)
        scale = events.max()
        slope = square * np.exp(-2 * at) - events + weak.noise_slope(at)
        np.testing.assert_allclose(slope, 0.0, atol=1e-5 * scale)
        ahead, behind = (weak.log_noise(at + s * np.array([1e-5, 0, 0])) for s in (1, -1))
        assert weak.noise_slope(at)[0] == pytest.approx((ahead - behind) / 2e-5, abs=1e-6)
