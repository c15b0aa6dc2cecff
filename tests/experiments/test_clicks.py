"""Clicks: regrets beside that of exact draws, and the Gaussian hierarchy that is nearest."""

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from hierbandits.experiments.clicks import (
    REFERENCE,
    SHOWN,
    Believed,
    digit_world,
    nearest_gaussian,
    synthetic_world,
)
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy


def test_the_rows_of_clicks_say_the_ratio_to_exact_draws(reports):
    report, folder, heard = reports("clicks")
    tasks = pl.read_parquet(folder / "tasks.parquet")
    assert {row["panel"] for row in report.rows} == {"2 %", "digits"}
    assert {row["policy"] for row in report.rows} == {*SHOWN, REFERENCE}
    for row in report.rows:
        mine = tasks.filter((pl.col("world") == row["panel"]) & (pl.col("policy") == row["policy"]))
        exact = tasks.filter((pl.col("world") == row["panel"]) & (pl.col("policy") == REFERENCE))
        np.testing.assert_allclose(row["ratio"], mine["regret"].sum() / exact["regret"].sum())
    assert heard[-1] == (64, 64)  # of 8 policies, 4 runs in each of two worlds
    page = (folder / "report.html").read_text()
    assert "HierTS for clicks has from" in page
    assert "the highest upper end of their 95 % intervals" in page


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_the_nearest_gaussian_predicts_mean_rewards_of_tasks(rate):
    """Its marginal mean and variance of an arm's reward are those of drawn tasks."""
    world = synthetic_world(rate)
    clicks, linear = world.environment.hierarchy, world.gaussian
    rng = np.random.default_rng(5)
    theta = rng.multivariate_normal(clicks.hyper_mean, clicks.hyper_cov + clicks.task_cov, 40_000)
    table = np.column_stack([np.ones(50), rng.uniform(-0.5, 0.5, (50, 2))])
    means = expit(theta @ table.T)
    fits = means @ np.linalg.pinv(table).T
    cov = linear.hyper_cov + linear.task_cov
    assert (np.abs(linear.hyper_mean - fits.mean(0)) < 0.12 * np.sqrt(np.diag(cov))).all()
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), fits.std(0), rtol=0.15)
    left = (means * (1 - means) + (means - fits @ table.T) ** 2).mean()
    assert linear.noise_std == pytest.approx(np.sqrt(left), rel=0.05)
    assert np.linalg.eigvalsh(linear.hyper_cov).min() > 0


def test_widths_are_told_apart_into_those_of_tasks_and_of_populations():
    """Without differences among tasks, all variance is of populations."""
    clicks = synthetic_world(0.5).environment.hierarchy
    equal = clicks.with_levels(clicks.hyper_mean, [clicks.hyper_cov, 1e-12 * np.eye(3)])
    table = np.column_stack([np.ones(50), np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))])
    linear = nearest_gaussian(equal, table)
    assert np.abs(linear.task_cov).max() < 1e-9 * linear.hyper_cov.max()


def test_the_digits_are_told_in_log_odds():
    world = digit_world()
    assert isinstance(world.environment.prior, GeneralizedHierarchy)
    assert world.environment.prior.dim == world.gaussian.dim == 16
    assert world.environment.hyper.shape == (16,)
    policies = world.policies()
    assert isinstance(policies["HierTS, Gaussian"].believe, Believed)
    assert policies["HierTS, Gaussian"].believe(world.environment.prior) is world.gaussian
    assert set(policies) == {*SHOWN, REFERENCE}
