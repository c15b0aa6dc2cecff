"""Rotations of loadings: the integral of a density that no rotation changes."""

from math import log, pi

import numpy as np
import pytest
from scipy.special import multigammaln
from support.fits import drawn_sums, objective_of

from hierbandits.fitting import fit_prior
from hierbandits.fitting.rotations import Rotations
from hierbandits.fitting.search import search


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_laplace_over_the_rotations_is_the_integral(rank):
    """Of |det G|^2k exp(-k |G|^2) over square G, which has its top at all rotations."""
    k = 2000.0
    exact = rank**2 / 2 * log(pi) - multigammaln(rank / 2, rank) + multigammaln(k + rank / 2, rank)
    exact -= (rank * k + rank**2 / 2) * log(k)
    rotations = Rotations.of(np.linalg.qr(np.random.default_rng(0).normal(size=(rank, rank)))[0])
    # Across the rotations, G = I + e symmetric, 2k log det G - k |G|^2 falls by 2 k |e|^2.
    across = rank * (rank + 1) // 2
    assert len(rotations.along) == rank**2 - across
    found = -k * rank + rotations.log_volume + across / 2 * log(2 * pi / (4 * k))
    assert found == pytest.approx(exact, abs=0.01)


def test_rotations_move_along_the_surface():
    loading = np.random.default_rng(1).normal(size=(5, 3))
    rotations = Rotations.of(loading)
    np.testing.assert_allclose(rotations.along @ rotations.along.T, np.eye(3), atol=1e-12)
    for along in rotations.along:  # to first order nothing changes
        move = along.reshape(5, 3)
        np.testing.assert_allclose(move @ loading.T + loading @ move.T, 0, atol=1e-12)
    assert Rotations.of(loading[:, :1]).log_volume == pytest.approx(log(2))
    circle = Rotations.of(loading[:, :2]).log_volume
    assert circle == pytest.approx(log(4 * pi * np.linalg.norm(loading[:, :2])))


def test_the_evidence_of_a_factor_is_the_integral_over_its_numbers(monkeypatch):
    """By importance: normal draws about either sign of the loadings."""
    rng = np.random.default_rng(2)
    loading = np.array([1.0, -0.8, 0.6])
    cov = np.outer(loading, loading) + 0.2 * np.eye(3)
    sums = drawn_sums(rng, tasks=60, events=24, task_cov=cov, noise=0.7, hyper_cov=np.eye(3),
                      mean=np.zeros(3), armed=True)  # fmt: skip
    fit = fit_prior(sums, structure="low-rank", noise_std=0.7)
    problem, units = objective_of(sums, 1, "low-rank", monkeypatch, noise_std=0.7)
    top = search(problem, 200, 1e-9)[0]
    slope = problem.value_and_slope(top)[1]
    cov = 1.5 * np.linalg.inv(problem.curvature(top, slope))
    draws = rng.multivariate_normal(top, cov, 3000)
    away = draws - top
    density = -0.5 * np.einsum("ni,ij,nj->n", away, np.linalg.inv(cov), away)
    density -= 0.5 * np.linalg.slogdet(2 * pi * cov)[1]
    values = np.array([problem.value_and_slope(free)[0] for free in draws])
    scale = problem.structure.log_scale + sums.n.sum() * np.log(units.reward)
    exact = np.logaddexp.reduce(values - density) - log(3000) + log(2) - scale
    assert fit.log_marginal == pytest.approx(exact, abs=0.5)
