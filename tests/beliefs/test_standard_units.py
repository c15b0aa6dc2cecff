"""Units in which rewards and features have size one."""

import numpy as np
import pytest

from hierbandits import TaskSums
from hierbandits.beliefs.standard_units import LARGEST_UNIT, LEAST_UNIT, StandardUnits

TASKS = 20


def _sums(x, y):
    sums = TaskSums.zeros(TASKS, x.shape[1])
    sums.add(np.arange(len(y)) % TASKS, x, y)
    return sums.rows(np.flatnonzero(sums.n > 0))


def _raw(rng, size=400):
    """Three features far from zero beside a constant, and a reward of level 50."""
    x = np.array([3.0, 10.0, 0.0, 30.0]) + rng.normal(size=(size, 4)) * [1.0, 0.5, 0.0, 4.0]
    x[:, 2] = 2.0
    return x, 50.0 + x @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=size)


def test_features_are_centred_and_scaled_beside_a_constant():
    x, y = _raw(np.random.default_rng(0))
    units = StandardUnits.of(_sums(x, y))
    assert units.constant == 2
    z = x @ units.map.T
    np.testing.assert_allclose(z.mean(0), [0.0, 0.0, 1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose((z**2).mean(0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(units.reward, y.std(), rtol=1e-9)
    np.testing.assert_allclose(units.inverse_map @ units.map, np.eye(4), atol=1e-12)
    scaled = units.scaled(_sums(x, y))
    direct = _sums(z, y / units.reward)
    for name in ("xx", "xy", "yy", "n"):
        np.testing.assert_allclose(getattr(scaled, name), getattr(direct, name), atol=1e-8)


def test_parameters_and_covariances_go_in_and_out():
    rng = np.random.default_rng(1)
    x, y = _raw(rng)
    units = StandardUnits.of(_sums(x, y))
    theta, root = rng.normal(size=4), rng.normal(size=(4, 4))
    inside = units.mean_in(theta)
    np.testing.assert_allclose(x @ units.map.T @ inside * units.reward, x @ theta, rtol=1e-9)
    cov = root @ root.T
    np.testing.assert_allclose(units.cov_out(units.cov_in(cov)), cov, rtol=1e-9)
    z = x @ units.map.T
    var = np.einsum("ei,ij,ej->e", z, units.cov_in(cov), z) * units.reward**2
    np.testing.assert_allclose(var, np.einsum("ei,ij,ej->e", x, cov, x), rtol=1e-9)


def test_without_a_constant_features_are_scaled_alone():
    rng = np.random.default_rng(2)
    x, y = 5.0 + rng.normal(size=(400, 2)) * [1.0, 3.0], rng.normal(size=400)
    units = StandardUnits.of(_sums(x, y))
    assert units.constant is None
    np.testing.assert_allclose(units.map, np.diag(1 / np.sqrt((x**2).mean(0))), rtol=1e-9)
    np.testing.assert_allclose(units.reward, np.sqrt((y**2).mean()), rtol=1e-9)


@pytest.mark.parametrize("place", [0, 2])
def test_the_constant_is_told_from_signs(place):
    """Features of -1 and 1 have constant squares too."""
    x, y = _raw(np.random.default_rng(3))
    signs = np.sign(np.random.default_rng(4).normal(size=len(y)))
    order = [2, 4, 0, 1] if place == 0 else [0, 4, 2, 1]
    units = StandardUnits.of(_sums(np.column_stack([x, signs])[:, order], y))
    assert units.constant == place


def test_rewards_of_arms_are_measured_about_their_mean():
    rng = np.random.default_rng(5)
    tasks, arms, y = (
        rng.integers(0, TASKS, 300),
        rng.integers(0, 3, 300),
        7.0 + rng.normal(size=300),
    )
    sums = TaskSums.zeros(TASKS, 3, armed=True)
    sums.add(tasks, arms, y)
    units = StandardUnits.of(sums)
    np.testing.assert_allclose(units.reward, y.std(), rtol=1e-9)
    np.testing.assert_allclose(units.scaled(sums).yy, sums.yy / y.var(), rtol=1e-9)
    np.testing.assert_allclose(units.mean_in(np.array([1.0, 2.0, 3.0])) * units.reward, [1, 2, 3])
    variances = np.array([1.0, 4.0, 9.0])
    np.testing.assert_allclose(units.cov_out(units.cov_in(variances)), variances)


def test_units_have_bounds_and_nothing_has_the_unit_one():
    nothing = TaskSums.zeros(1, 2)
    nothing.add([0], [[0.0, 0.0]], [0.0])
    assert StandardUnits.of(nothing).reward == 1.0
    np.testing.assert_array_equal(StandardUnits.of(nothing).scale, 1.0)
    for reward, feature in ((1e60, 1e-60), (1e-60, 1e60), (1e60, 1e60), (1e-100, 1.0)):
        units = StandardUnits.of(_sums(np.full((40, 1), feature), np.full(40, reward)))
        for unit in (units.reward, units.reward * units.scale[0]):
            assert LEAST_UNIT * 0.999 <= unit <= LARGEST_UNIT * 1.001
    small = StandardUnits.of(_sums(np.full((3, 1), 2.0), np.full(3, 8.0)))
    np.testing.assert_allclose(small.reward, 8e-3)  # a thousandth, where nothing varies
    few = StandardUnits.of(_sums(np.full((2, 1), 2.0), np.full(2, 8.0)))
    assert few.reward == 8.0
