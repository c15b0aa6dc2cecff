"""Structures of covariances: their M-steps, their free numbers, the loss that rules zero out."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits.fitting.structure import Structure
from hierbandits.fitting.weak_prior import WeakPrior


def test_the_m_step_is_where_its_objective_is_flat():
    rng = np.random.default_rng(4)
    scatter = random_cov(rng, 3)
    for kind, count in [("scalar", 7), ("diagonal", 7), ("full", 7), ("full", 1), ("full", 0)]:
        structure = Structure.of(kind, 3, 1, armed=False)
        weak = WeakPrior.of(kind, 3)
        cov = structure.start(0.3)
        cov = structure.maximise(scatter if count else np.zeros((3, 3)), count, weak, cov)
        inverse = np.linalg.inv(cov)
        slope = (inverse @ scatter @ inverse - count * inverse) / 2 if count else 0 * cov
        slope = slope + weak.covariance_slope(cov)
        np.testing.assert_allclose(structure.slope(structure.free(cov), slope), 0.0, atol=1e-10)


def test_steps_of_a_part_in_common_climb_to_where_the_objective_is_flat():
    structure, weak = Structure.of("common", 3, 1, armed=True), WeakPrior.of("common", 3)
    scatter, cov, count, values = 7 * (random_cov(np.random.default_rng(4), 3) + 1), None, 7, []
    cov = structure.start(0.3)
    for _ in range(3000):
        inverse = np.linalg.inv(cov)
        half = -(count * np.linalg.slogdet(cov)[1] + (inverse * scatter).sum()) / 2
        values.append(half + structure.log_weak(cov, weak))
        cov = structure.maximise(scatter, count, weak, cov)
    assert (np.diff(values) > -1e-9).all()
    slope, free = (inverse @ scatter @ inverse - count * inverse) / 2, structure.free(cov)
    total = structure.slope(free, slope) + structure.weak_slope(free, weak)
    np.testing.assert_allclose(total, 0.0, atol=1e-6)
    odd = cov.copy()
    odd[0, 1] = odd[1, 0] = 0.0
    assert structure.maximise(scatter, count, weak, odd) is odd  # a width is held near zero


def test_the_loss_that_rules_zero_out():
    losses = [Structure.of("full", d, 1, armed=False).critical_loss for d in (1, 2, 5)]
    draws = np.random.default_rng(24).standard_normal((10**6, 5)) ** 2
    coin = np.random.default_rng(25).integers(0, 2, 10**6)
    for loss, d in zip(losses, (1, 2, 5), strict=True):
        twice = draws[:, : d - 1].sum(1) + coin * draws[:, d - 1]
        assert abs((twice > 2 * loss).mean() - 0.025) < 6 * np.sqrt(0.025 / 10**6)
    assert Structure.of("low-rank", 5, 1, armed=False).critical_loss == pytest.approx(losses[1])
    assert Structure.of("diagonal", 5, 1, armed=False).critical_loss == pytest.approx(1.9207294)


def test_a_factor_start_is_near_the_covariance():
    rng = np.random.default_rng(26)
    loading, own = rng.standard_normal((6, 2)), rng.uniform(0.3, 1.0, 6)
    cov = loading @ loading.T + np.diag(own)
    structure = Structure.of("low-rank", 6, 2, armed=False)
    np.testing.assert_allclose(structure.cov(structure.free(cov)), cov, atol=0.02)


@pytest.mark.parametrize(("kind", "dim"), [("scalar", 3), ("diagonal", 2), ("common", 2)])
def test_the_weak_prior_of_widths_integrates_to_its_scale(kind, dim):
    _check_scale(kind, dim, [np.linspace(-8, 2, 41)] * Structure.of(kind, dim, 1, True).size)


def test_the_weak_prior_of_a_cholesky_factor_integrates_to_its_scale():
    logs = np.linspace(-8, 2, 41)
    _check_scale("full", 2, [logs, np.linspace(-6, 6, 31), logs])


def test_the_weak_prior_of_a_factor_integrates_to_its_scale():
    logs, loadings = np.linspace(-8, 2, 41), np.linspace(-6, 6, 31)
    _check_scale("low-rank", 2, [loadings, loadings, logs, logs])


def _check_scale(kind, dim, axes):
    structure, weak = Structure.of(kind, dim, 1, True), WeakPrior.of(kind, dim)
    at = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(axes))
    cell = np.prod([axis[1] - axis[0] for axis in axes])
    density = [
        np.exp(structure.log_weak(structure.cov(free), weak, structure.factor(free))) for free in at
    ]
    assert np.log(np.sum(density) * cell) == pytest.approx(structure.log_scale, abs=3e-3)


def test_a_common_start_is_near_the_covariance():
    cov = np.diag([0.5, 1.0, 0.3]) + 0.7
    structure = Structure.of("common", 3, 1, armed=True)
    np.testing.assert_allclose(structure.cov(structure.free(cov)), cov)
    apart = structure.cov(structure.free(np.eye(3) - 0.2))  # arms that go against each other
    np.testing.assert_allclose(apart, np.eye(3), atol=0.21)
