"""exp and log(1 + x) are numpy's, but for the last digits."""

import numpy as np
from numpy.testing import assert_allclose

from hierbandits.kernels.plain_functions import plain_exp, plain_log1p


def test_exp():
    x = np.concatenate([np.linspace(-699, 699, 997), np.linspace(-1, 1, 101), [1e-300, -0.0]])
    assert_allclose([plain_exp(value) for value in x], np.exp(x), rtol=1e-15)
    assert plain_exp(-1e9) == plain_exp(-700.0) < 1e-300
    assert plain_exp(1e9) == plain_exp(700.0) > 1e300


def test_log1p():
    x = np.concatenate([np.linspace(0, 1, 999), [1e-300, 1e-17, 1e-8]])
    assert_allclose([plain_log1p(value) for value in x], np.log1p(x), rtol=1e-14)
