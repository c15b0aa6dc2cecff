"""The profile of the log evidence: its ends and its tops, against a search by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq, minimize, minimize_scalar
from support.fits import drawn_sums, objective_of, one_way

from hierbandits.fitting import fit_prior, search
from hierbandits.fitting.interval_level import LARGEST_LOSS, allowed_loss
from hierbandits.fitting.profile import Profile
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.fitting.width_errors import pseudo_inverse


@pytest.mark.parametrize(("tasks", "width"), [(3, 2.0), (12, 0.5), (40, 0.3)])
def test_ends_are_those_of_the_one_way_likelihood(tasks, width):
    """One arm, balanced: the restricted likelihood of the two mean squares, noise refitted."""
    n = 8
    sums, between, within, _ = one_way(np.random.default_rng(50), tasks, n, width)
    fit = fit_prior(sums)

    def height(task_var, noise_var):
        both = noise_var + n * task_var
        twice = (tasks - 1) * (np.log(both) + between / both)
        return -(twice + tasks * (n - 1) * (np.log(noise_var) + within / noise_var)) / 2

    def refitted(task_var):
        found = minimize_scalar(lambda log: -height(task_var, np.exp(log)), (-3.0, 2.0))
        return -found.fun

    best = max((between - within) / n, 0.0)
    top = refitted(best)

    def excess(std):
        return top - refitted(std**2) - allowed_loss(tasks - 1)

    high = brentq(excess, np.sqrt(best), 100.0)
    np.testing.assert_allclose(fit.task_widths.high, high, rtol=5e-3)
    maybe_zero = top - refitted(0.0) < LARGEST_LOSS
    assert fit.task_widths.maybe_zero[0] == maybe_zero
    low = 0.0 if maybe_zero else brentq(excess, 0.0, np.sqrt(best))
    np.testing.assert_allclose(fit.task_widths.low, low, rtol=2e-2)


def _profile(sums, structure, monkeypatch):
    problem, _ = objective_of(sums, 1, structure, monkeypatch)
    free, _ = search.search(problem, 200, 1e-9)
    slope = problem.value_and_slope(free)[1]
    return Profile.of(problem, free, pseudo_inverse(problem.curvature(free, slope)))


@pytest.mark.parametrize("structure", ["diagonal", "full", "low-rank"])
def test_without_a_width_the_top_is_that_of_the_other_coordinate(structure, monkeypatch):
    """The evidence with the first width at zero, by a search over the other and the noise."""
    rng = np.random.default_rng(51)
    sums = drawn_sums(rng, tasks=30, events=15, task_cov=np.diag([0.01, 0.25]), noise=0.7,
                      hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
    profile = _profile(sums, structure, monkeypatch)
    alone, _ = objective_of(sums, 1, "diagonal", monkeypatch)
    alone = replace(alone, weak=WeakPrior.none())

    def downhill(others):
        value, slope = alone.value_and_slope(np.append(np.log(1e-4), others))
        return -value, -slope[1:]

    best = -minimize(downhill, [-0.5, -0.5], jac=True, method="L-BFGS-B").fun
    without = profile.without("task_scale", np.array([True, False]))
    np.testing.assert_allclose(without.highest, best, atol=5e-3)
    assert profile.highest >= without.highest - 1e-3


@pytest.mark.parametrize("structure", ["scalar", "diagonal", "common", "full"])
def test_the_evidence_at_an_end_is_at_its_level(structure, monkeypatch):
    rng = np.random.default_rng(52)
    sums = drawn_sums(rng, tasks=15, events=20, task_cov=np.diag([0.3, 0.6, 0.1]), noise=0.7,
                      hyper_cov=np.eye(3), mean=np.ones(3), armed=True)  # fmt: skip
    profile = _profile(sums, structure, monkeypatch)
    loss = 1.7
    for end in profile.ends(profile.noise_var(0), loss, has_low=True):
        held = replace(profile.objective, learns_noise=False,
                       start=replace(profile.objective.start, noise_var=end))  # fmt: skip
        free, _ = search.search(replace(held, weak=WeakPrior.of(structure, 3)), 200, 1e-9)
        held_profile = Profile.of(held, free, np.eye(free.size))
        np.testing.assert_allclose(profile.highest - held_profile.highest, loss, atol=0.02)
