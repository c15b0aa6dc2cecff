"""Uneven noise and heavy tails."""

import numpy as np
import pytest
from scipy import stats

from hierbandits.learning.noise_check import check_noise, check_tails, excess_kurtosis
from hierbandits.learning.sentence import Claim

NAMES = tuple(f"g{i}" for i in range(30))


def checked(square, freedom, tails=0.0):
    return check_noise(np.random.default_rng(0), "task", NAMES, square, freedom, tails)


@pytest.mark.parametrize("most", [2, 30])
def test_p_values_of_even_noise_are_uniform(most):
    rng = np.random.default_rng(1)
    freedom = rng.integers(1, most, 30).astype(float)
    found = [checked(2.5 * rng.chisquare(freedom), freedom).p_value for _ in range(200)]
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_the_odd_group_is_named_and_tails_make_it_less_sure():
    rng, freedom = np.random.default_rng(2), np.full(30, 20.0)
    square = rng.chisquare(freedom) * np.where(np.arange(30) == 7, 6.0, 1.0)
    check = checked(square, freedom)
    assert (check.claim, check.about) == (Claim.NOISE_BY_TASK, ("g7",))
    assert check.effect == pytest.approx(np.sqrt(square[7] / square.mean()))
    assert checked(square, freedom, 10.0).p_value > check.p_value


def test_kurtosis_and_its_p_value_are_those_of_scipy():
    residuals = np.random.default_rng(3).standard_t(8, 150)
    centred = residuals - residuals.mean()
    square, fourth = ((centred**power).sum() for power in (2, 4))
    n = np.array([150.0])
    excess, freedom = excess_kurtosis(n, np.array([square]), np.array([fourth]), n)
    assert excess == pytest.approx(stats.kurtosis(residuals) + 3 - 3 * 149 / 151)
    assert freedom == 150
    expected = stats.kurtosistest(residuals, alternative="greater").pvalue
    assert check_tails(excess, 150.0).p_value == pytest.approx(expected)


def test_scales_of_groups_are_no_tails():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(2, 4000)) * [[1.0], [9.0]]
    n = np.full(2, 4000.0)
    excess, freedom = excess_kurtosis(n, (x**2).sum(1), (x**4).sum(1), n)
    assert abs(excess) < 6 * np.sqrt(24 / 8000)
    assert check_tails(excess, freedom).claim is None


def test_too_few_rows_are_not_judged():
    assert not checked(np.ones(30), np.full(30, 0.5)).is_made
    assert not check_tails(*excess_kurtosis(*np.ones((4, 3)))).is_made
