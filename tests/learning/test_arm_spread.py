"""How far arms are apart on average."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from support.oracle import full

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.learning.arm_spread import ArmSpread


def _log(rng, mu, tasks, rows, common):
    """Sums of tasks about mu with own widths of 0.7, and the hierarchy of these widths."""
    arms = mu.size
    theta = mu + 0.7 * rng.normal(size=(tasks, arms)) + common * rng.normal(size=(tasks, 1))
    task, arm = np.repeat(np.arange(tasks), rows), rng.integers(arms, size=tasks * rows)
    sums = TaskSums.zeros(tasks, arms, armed=True)
    sums.add(task, arm, theta[task, arm] + rng.normal(size=task.size))
    given = {"hyper_std": 1.0, "task_std": 0.7, "noise_std": 1.0}
    return sums, GaussianHierarchy.armed(arms, common_std=common, **given)


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_spreads_and_centres_are_as_probable_as_the_rewards_make_them(common):
    """Beside dense Gaussians: the log's estimate of mu, given a spread and a flat centre."""
    rng = np.random.default_rng(0)
    sums, hierarchy = _log(rng, 5.0 + np.array([0.3, -0.5, 0.2, 1.0]), 6, 30, common)
    found = ArmSpread.of(hierarchy, sums)
    wide = 1e4 * (np.ones(4) if common == 0 else np.eye(4))
    flat = hierarchy.with_levels(np.full(4, 5.0), [wide, hierarchy.task_cov])
    mu = Belief.from_sums(flat, sums).hyper(0)
    cov = full(mu.cov)
    error = 1 / np.mean(1 / np.linalg.eigvalsh(cov))
    places = [60, 100, 121, 140, 180]
    log, one = [], np.ones(4)
    for place in places:
        both = cov + found.std[place] ** 2 * np.eye(4)
        share = error / (error + found.std[place] ** 2)
        density = multivariate_normal(np.full(4, 5.0), both + 1e6).logpdf(mu.mean)
        log.append(density + np.log(share * (1 - share)))
        inverse = np.linalg.inv(both)
        centre = one @ inverse @ mu.mean / (one @ inverse @ one)
        assert found.centre[place] == pytest.approx(centre, abs=1e-3)
        assert found.centre_error[place] == pytest.approx((one @ inverse @ one) ** -0.5, rel=1e-3)
    weights = found.weight[places]
    np.testing.assert_allclose(weights / weights[2], np.exp(log - log[2]), rtol=0.01)
    assert found.weight.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("spread", [0.1, 0.4, 3.0])
def test_draws_of_mu_are_as_far_apart_as_mu_is(spread):
    """With a flat mu they are further apart: by twice its error."""
    rng, squares = np.random.default_rng(1), []
    for _ in range(80):
        truth = spread * rng.normal(size=6)
        sums, hierarchy = _log(rng, truth, 8, 60, 0.0)
        drawn = ArmSpread.of(hierarchy, sums).drawn(rng, hierarchy)
        flat = hierarchy.with_levels(np.zeros(6), [np.full(6, 1e4), hierarchy.task_cov])
        mu = [each.hyper(0) for each in (Belief.from_sums(h, sums) for h in (drawn, flat))]
        draws = [truth, *(rng.multivariate_normal(each.mean, full(each.cov)) for each in mu)]
        squares.append([each.var(ddof=1) for each in draws])
    true, ours, flat = np.mean(squares, axis=0)
    error = np.std([row[1] - row[0] for row in squares]) / np.sqrt(80)
    assert abs(ours - true) < 4 * error + 0.06
    if spread < 1:
        assert flat > true + 0.12
        assert ours < flat - 0.05
    else:
        assert ours == pytest.approx(flat, rel=0.2)


def test_a_draw_changes_mu_alone():
    rng = np.random.default_rng(2)
    for common in (0.0, 1.0):
        sums, hierarchy = _log(rng, np.arange(3.0), 5, 20, common)
        drawn = ArmSpread.of(hierarchy, sums).drawn(rng, hierarchy)
        np.testing.assert_array_equal(drawn.task_cov, hierarchy.task_cov)
        assert drawn.noise_std == hierarchy.noise_std
        assert drawn.hyper_cov.shape == hierarchy.hyper_cov.shape
        assert np.ptp(drawn.hyper_mean) == 0
        variances = np.diagonal(full(drawn.hyper_cov))
        np.testing.assert_allclose(variances, variances[0])
