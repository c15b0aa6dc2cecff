"""Skewness and kurtosis of noise, from residuals of few rows."""

import numpy as np
import pytest

from hierbandits.learning import shape_tally
from hierbandits.learning.shape_tally import ShapeTally


def tallied(noise, *, armed=True):
    """Of cells of as many rows as the noise has columns, about their means."""
    rows = noise.shape[1]
    residual = (noise - noise.mean(1, keepdims=True)).ravel()
    tally = ShapeTally(2, armed=armed)
    tally.add(
        np.zeros(residual.size, np.intp), residual, np.full(residual.size, 1 / rows),
        np.full(residual.size, float(rows)),
    )  # fmt: skip
    return tally


@pytest.mark.parametrize("rows", [3, 5, 20])
def test_residuals_of_few_rows_tell_the_shape_of_the_noise(rows, monkeypatch):
    """As a plain kurtosis of these residuals would not: few rows make them nearly Gaussian."""
    monkeypatch.setattr(shape_tally, "DOUBT", 0.0)
    noise = np.random.default_rng(0).exponential(size=(600_000 // rows, rows))
    skewness, excess = tallied(noise).of_all()
    assert skewness == pytest.approx(2.0, rel=0.05)
    assert excess == pytest.approx(6.0, rel=0.1)
    residual = noise - noise.mean(1, keepdims=True)
    plain = (residual**4).mean() / (residual**2).mean() ** 2 - 3
    if rows == 3:
        assert plain < 3.5


def test_pairs_tell_kurtosis_and_no_skewness(monkeypatch):
    monkeypatch.setattr(shape_tally, "DOUBT", 0.0)
    noise = np.random.default_rng(1).exponential(size=(300_000, 2))
    skewness, excess = tallied(noise).of_all()
    assert abs(skewness) < 0.05
    assert excess == pytest.approx(6.0, rel=0.1)


def test_an_excess_that_few_rows_leave_open_is_larger():
    rng = np.random.default_rng(2)
    many, few = (tallied(rng.normal(size=(cells, 5))).of_all()[1] for cells in (50_000, 60))
    assert 0 < many < 0.1
    assert few > many
    assert tallied(rng.normal(size=(4, 5))).of_all() == (0.0, 0.0)  # too few to say


def test_a_group_of_few_rows_leans_on_all():
    rng = np.random.default_rng(3)
    tally = tallied(rng.exponential(size=(4000, 5)))
    residual = rng.normal(size=30)
    tally.add(np.ones(30, np.intp), residual, np.full(30, 0.2), np.full(30, 5.0))
    skewness, excess = tally.of_groups()
    assert skewness[1] == tally.of_all()[0]
    assert excess[1] >= tally.of_all()[1] > 3
    assert skewness[0] == pytest.approx(2.0, rel=0.2)


def test_units_of_groups_do_not_matter():
    noise = np.random.default_rng(4).exponential(size=(2000, 5))
    one, other = tallied(noise), tallied(1000 * noise)
    np.testing.assert_allclose(one.of_all(), other.of_all(), rtol=1e-9)
    nothing = ShapeTally(3, armed=False)
    assert np.array_equal(nothing.of_groups(), np.zeros((2, 3)))
