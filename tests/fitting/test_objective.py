"""What a fit maximises, and its gradient."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums, objective_of, uneven_sums
from support.oracle import random_cov

from hierbandits.fitting import fit_prior
from hierbandits.fitting.search import search


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("populations", [1, 3])
def test_the_gradient_is_the_slope_of_evidence_and_weak_priors(
    structure, armed, populations, monkeypatch
):
    rng = np.random.default_rng(1)
    cov = np.diag([0.3, 0.1, 0.5, 0.2]) if armed else random_cov(rng, 4, 0.5)
    sums = drawn_sums(rng, tasks=4, events=5, task_cov=cov, noise=0.7, hyper_cov=np.eye(4),
                  mean=np.arange(4.0), populations=populations, armed=armed)  # fmt: skip
    problem, _ = objective_of(sums, populations, structure, monkeypatch, rank=2)
    free = problem.free(problem.start)
    free = free + 0.3 * rng.standard_normal(free.size)
    value, slope = problem.value_and_slope(free)
    hierarchy = problem.hierarchy(free)
    expected = problem.expectation(hierarchy).log_evidence + problem.log_prior(hierarchy)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert slope.size == len(problem.bounds()) == len(problem.steps())
    for i, move in enumerate(1e-5 * np.eye(free.size)):
        ahead, behind = (problem.value_and_slope(free + s * move)[0] for s in (1, -1))
        np.testing.assert_allclose(slope[i], (ahead - behind) / 2e-5, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("structure", [structure for structure, armed in FORMS if armed])
@pytest.mark.parametrize("populations", [1, 3])
def test_the_gradient_is_the_slope_with_noises_of_arms(structure, populations, monkeypatch):
    rng = np.random.default_rng(3)
    sums, squares = uneven_sums(rng, [0.3, 0.7, 1.1, 2.0], tasks=6, events=8)
    problem, _ = objective_of(sums, populations, structure, monkeypatch, rank=2, squares=squares)
    free = problem.free(problem.start)
    free = free + 0.3 * rng.standard_normal(free.size)
    _, slope = problem.value_and_slope(free)
    assert slope.size == len(problem.bounds()) == problem.steps().size == problem.powers().size
    for i, move in enumerate(1e-5 * np.eye(free.size)):
        ahead, behind = (problem.value_and_slope(free + s * move)[0] for s in (1, -1))
        np.testing.assert_allclose(slope[i], (ahead - behind) / 2e-5, rtol=2e-6, atol=2e-5)


def test_the_log_marginal_is_near_the_integral_over_the_widths(monkeypatch):
    """Two widths and the noise, on a grid in the data's units."""
    rng = np.random.default_rng(2)
    cov = np.diag([0.3, 0.1]) + 0.5
    sums = drawn_sums(rng, tasks=25, events=12, task_cov=cov, noise=0.7, hyper_cov=np.eye(2),
                  mean=np.arange(2.0), armed=True)  # fmt: skip
    for structure in ("scalar", "common"):  # test_rotations.py has factors
        fit = fit_prior(sums, structure=structure, noise_std=0.7)
        problem, units = objective_of(sums, 1, structure, monkeypatch, noise_std=0.7)
        top, errors = search(problem, 200, 1e-9)[0], 5.0 / np.sqrt(25)
        axes = [np.linspace(at - 4 * errors, at + 2 * errors, 21) for at in top]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, top.size)
        values = np.array([problem.value_and_slope(free)[0] for free in grid])
        cells = np.log(np.prod([axis[1] - axis[0] for axis in axes]))
        scale = problem.structure.log_scale + sums.n.sum() * np.log(units.reward)
        exact = np.logaddexp.reduce(values) + cells - scale
        assert fit.log_marginal == pytest.approx(exact, abs=0.5)
    assert fit_prior(sums, weak_priors=False).log_marginal is None
