import numpy as np
import pytest

from hierbandits.kernels.sharp_events import sharpen, turn


def _drawn(rng, d):
    block = rng.normal(size=(d + 1, d))  # the last row is a mean
    x = rng.normal(size=d)
    return block, x, block[:d].T @ x


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_turned_columns_are_a_root_of_the_same_covariance(d, seed):
    block, x, f = _drawn(np.random.default_rng([d, seed]), d)
    before = block.copy()
    turn(block, f)
    np.testing.assert_allclose(block[:d] @ block[:d].T, before[:d] @ before[:d].T, atol=1e-13)
    np.testing.assert_allclose(block[:d].T @ x, f, atol=1e-14)
    assert np.count_nonzero(f) == 1
    np.testing.assert_array_equal(block[d], before[d])


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("left", [1e-4, 1e-30])
def test_what_is_left_along_the_features_has_all_its_digits(d, left):
    block, x, f = _drawn(np.random.default_rng(d), d)
    cov = block[:d] @ block[:d].T
    turn(block, f)
    sharpen(block, f, cov @ x, left)
    column = np.flatnonzero(f)[0]
    np.testing.assert_allclose(x @ block[:d, column], left * f[column], rtol=1e-12)
    gone = (1 - left**2) * np.outer(cov @ x, cov @ x) / (x @ cov @ x)
    np.testing.assert_allclose(block[:d] @ block[:d].T, cov - gone, atol=1e-13)
