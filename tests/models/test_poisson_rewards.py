"""Counts are whole numbers."""

import numpy as np
import pytest

import hierbandits as hb
from hierbandits.models import PoissonRewards


@pytest.mark.parametrize(
    ("reward", "exposure", "message"),
    [
        (-1.0, 1.0, "rewards must be counts, whole numbers of .* got -1"),
        (0.5, 1.0, "rewards must be counts"),
        (2e9, 1.0, r"rewards must be at most 1e\+09, got 2e\+09"),
        (1.0, 2e9, r"exposure must be in \[1e-09, 1e\+09\], got 2e\+09"),
        (1.0, 1e-10, r"exposure must be in \[1e-09, 1e\+09\], got 1e-10"),
    ],
)
def test_wrong_rewards_are_refused_by_name(reward, exposure, message):
    with pytest.raises(ValueError, match=message):
        PoissonRewards().check("rewards", np.array([1.0, reward]), np.array([1.0, exposure]))


def test_draws_are_counts_at_the_ends():
    ends = np.array([1e-300, 1e-9, 0.5, 1 - 1e-16])
    for eta in (-700.0, -30.0, 0.0, 5.0):
        PoissonRewards().check(
            "rewards", PoissonRewards().draw(np.full(4, eta), np.ones(4), ends), np.ones(4)
        )


def test_sums_may_be_larger():
    PoissonRewards().check_totals("totals", np.array([1e18]), np.array([1e18]))
    with pytest.raises(ValueError, match=r"totals must be at most 1e\+18"):
        PoissonRewards().check_totals("totals", np.array([2e18]), np.ones(1))


def test_mean_rates_are_those_of_a_log_normal():
    stds = np.array([0.0, 0.2, 5.0])
    mean, std = PoissonRewards().mean_and_std(np.array([1.0, 1.0, 0.0]), stds)
    np.testing.assert_allclose(mean, np.exp([1.0, 1.02, 12.5]))
    np.testing.assert_allclose(std, mean * np.sqrt(np.expm1(stds**2)))


def test_rates_beyond_all_numbers_are_finite():
    mean, std = PoissonRewards().mean_and_std(np.zeros(1), np.array([100.0]))
    assert mean[0] == std[0] == PoissonRewards().mean(np.array([1e6]))[0] > 1e100
    assert np.isfinite(mean[0] ** 2)


def test_an_agent_of_wide_rates_shows_numbers():
    prior = hb.GaussianHierarchy.armed(
        2, hyper_mean=0.0, hyper_std=100.0, task_std=1.0, noise_std=1.0
    )
    agent = hb.Agent(prior, rewards="poisson", seed=0)
    agent.decide("s")
    table = agent.table()
    assert np.isfinite([table["mean"], table["low"], table["high"]]).all()
