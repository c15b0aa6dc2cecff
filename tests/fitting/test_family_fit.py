"""Widths that clicks and counts teach."""

import numpy as np
import pytest
from support.click_logs import click_log

from hierbandits.fitting.family_fit import fit_family_prior


def test_many_clicks_teach_the_widths():
    log = click_log(1, tasks=150, rows=300)
    fit = fit_family_prior(log.sites())
    spread = log.theta.std(0)
    np.testing.assert_allclose(fit.task_widths.std, spread, rtol=0.12)
    assert fit.converged
    assert ((fit.task_widths.low < spread) & (spread < fit.task_widths.high)).all()
    mean = log.theta.mean(0)
    assert ((fit.means.low[0] < mean) & (mean < fit.means.high[0])).all()
    assert fit.prior.noise_std == 1.0
    assert not fit.noise_width.is_learned


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_features_teach_the_widths(family):
    log = click_log(2, family=family, armed=False, tasks=60, rows=100)
    fit = fit_family_prior(log.sites(), structure="full", intervals=False)
    spread = log.theta.std(0)
    np.testing.assert_allclose(fit.task_widths.std, spread, rtol=0.3)


def test_the_fit_does_not_depend_on_units_of_features():
    log = click_log(3, armed=False)
    fit = fit_family_prior(log.sites(), intervals=False)
    again = fit_family_prior(log.sites().scaled(np.array([1.0, 10.0, 0.1])), intervals=False)
    ratio = again.task_widths.std / fit.task_widths.std
    np.testing.assert_allclose(ratio, [1.0, 0.1, 10.0], rtol=1e-3)


def test_tasks_that_are_alike_have_widths_that_may_be_zero():
    log = click_log(4, tasks=30, rows=90)
    rng = np.random.default_rng(0)
    log.rewards[:] = rng.random(log.rewards.size) < 0.2
    fit = fit_family_prior(log.sites(), structure="scalar")
    assert fit.task_widths.maybe_zero.all()
    assert (fit.task_widths.low == 0).all()


def test_populations_teach_the_width_between_them():
    log = click_log(5, tasks=40, rows=80)
    fit = fit_family_prior(log.sites(), population=np.arange(40) % 4, intervals=False)
    assert fit.hyper_widths.is_learned
    assert fit.hyper_widths.std.max() < 1.0  # they are all one population


def test_an_arm_without_a_click_stays_finite():
    log = click_log(6, rate=0.05, tasks=10, rows=30)
    log.rewards[log.features == 1] = 0.0
    fit = fit_family_prior(log.sites())
    assert np.isfinite(fit.means.mean).all()
    assert fit.means.mean[0, 1] < fit.means.mean[0, [0, 2]].min()
