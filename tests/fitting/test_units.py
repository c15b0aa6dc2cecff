"""The units of the data do not matter."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums

from hierbandits import TaskSums
from hierbandits.fitting import fit_prior
from hierbandits.fitting.units import Units, noise_scale


def test_a_large_offset_of_the_rewards_costs_no_accuracy():
    rng = np.random.default_rng(15)
    tasks, arms = np.repeat(np.arange(30), 20), rng.integers(0, 3, 600)
    y = 0.3 * rng.standard_normal((30, 3))[tasks, arms] + 0.5 * rng.standard_normal(600)
    one, two = TaskSums.zeros(30, 3, armed=True), TaskSums.zeros(30, 3, armed=True)
    one.add(tasks, arms, y)
    two.add(tasks, arms, y + 1e4)
    near, far = fit_prior(one), fit_prior(two)
    np.testing.assert_allclose(far.task_widths.std, near.task_widths.std, rtol=1e-3)
    np.testing.assert_allclose(far.prior.noise_std, near.prior.noise_std, rtol=1e-3)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_matter(structure, armed, unit):
    """Rewards times a unit, features over a size: widths follow."""
    rng = np.random.default_rng(12)
    sums = drawn_sums(rng, tasks=20, events=10, task_cov=0.09 * np.eye(3), noise=0.5,
                  hyper_cov=np.eye(3), mean=np.ones(3), armed=armed)  # fmt: skip
    size = 1.0 if armed else 1e3
    other = TaskSums(sums.xx / size**2, sums.xy * unit / size, sums.yy * unit**2, sums.n)
    one, two = (fit_prior(s, structure=structure) for s in (sums, other))
    np.testing.assert_allclose(two.task_widths.std, unit * size * one.task_widths.std, rtol=1e-3)
    np.testing.assert_allclose(two.prior.noise_std, unit * one.prior.noise_std, rtol=1e-4)
    np.testing.assert_allclose(two.prior.hyper_cov, (unit * size) ** 2 * one.prior.hyper_cov)
    events = sums.n.sum()
    np.testing.assert_allclose(two.log_evidence, one.log_evidence - events * np.log(unit), 1e-6)


def test_the_default_hyper_width_is_wide_in_units_of_the_data():
    sums = TaskSums.zeros(2, 2, armed=True)
    sums.add([0, 0, 1, 1], [0, 1, 0, 1], [3.0, 4.0, 3.0, 4.0])
    units = Units.of(sums, isotropic=False)
    np.testing.assert_allclose(units.wide, 100 * np.sqrt(12.5 / 0.5))
    fit = fit_prior(sums)
    np.testing.assert_allclose(fit.hyper_widths.std, units.wide)
    np.testing.assert_allclose(fit.prior.hyper_mean, 0.0, atol=1e-12)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("apart", [1.0, 100.0, 10_000.0])
def test_the_noise_is_learned_however_far_tasks_are_apart(armed, apart):
    """Weak priors are those of rewards about their task's fit; by all tasks' fit they hid it."""
    rng = np.random.default_rng(7)
    tasks, y = np.repeat(np.arange(20), 30), rng.normal(size=600)
    arms, theta = rng.integers(0, 3, 600), apart * rng.normal(size=(20, 3))
    features = arms if armed else rng.normal(size=(600, 3))
    y += theta[tasks, arms] if armed else (features * theta[tasks]).sum(1)
    sums = TaskSums.zeros(20, 3, armed=armed)
    sums.add(tasks, features, y)
    fit = fit_prior(sums)
    own = fit_prior(sums, weak_priors=False, intervals=False).prior.noise_std
    assert 0.85 < own < 1.15
    assert fit.prior.noise_std == pytest.approx(own, rel=1e-2)
    assert fit.noise_width.low[0] < 0.96 * own < own < 0.96 * fit.noise_width.high[0]
    ratio = fit.task_widths.std / np.sqrt((theta**2).mean(0))
    np.testing.assert_allclose(ratio, 1.0, atol=0.2 if apart > 1 else 0.4)


def test_the_scale_of_noise_is_that_within_tasks_as_far_as_rewards_repeat():
    rng = np.random.default_rng(3)
    tasks, arms = np.repeat(np.arange(50), 8), np.tile(np.repeat(np.arange(2), 4), 50)
    y = rng.normal(size=(50, 2))[tasks, arms] + 0.01 * rng.normal(size=400)
    sums = TaskSums.zeros(50, 2, armed=True)
    sums.add(tasks, arms, y)
    assert noise_scale(sums) == pytest.approx(1e-4, rel=0.2)
    dense = TaskSums.zeros(50, 2)
    dense.add(tasks, np.eye(2)[arms], y)
    assert noise_scale(dense) == pytest.approx(noise_scale(sums), rel=1e-6)
    alone = TaskSums.zeros(100, 2, armed=True)
    alone.add(np.arange(100), arms[:100], y[:100])  # nothing repeats
    assert noise_scale(alone) == 1.0
    alone.add([0], [arms[0]], [y[0] + 1e-4])  # by chance as before: one reward says little
    assert 1e-8 < noise_scale(alone) < 1e-4
    still = TaskSums.zeros(2, 1, armed=True)
    still.add([0, 0, 1, 1], [0, 0, 0, 0], [2.0, 2.0, 2.0, 2.0])
    assert noise_scale(still, least=1e-12) == 1.0
    assert noise_scale(sums, least=1e-3) == 1.0  # below what sums of squares keep
    assert Units.of(still, isotropic=False).lost > 1e-4  # its unit is rounding too
    assert Units.of(sums, isotropic=False).lost < 1e-12
