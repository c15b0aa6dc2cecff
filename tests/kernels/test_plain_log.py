"""The logarithm in plain arithmetic, beside numpy's."""

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels.plain_log import plain_log


@compiled
def _logs(x, out):
    for i in range(x.size):
        out[i] = plain_log(x[i])


def test_it_is_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    wide, near = np.exp(rng.uniform(-690, 690, 20_000)), 1 + rng.uniform(-0.4, 0.6, 20_000)
    for x in (wide, near, np.array([1.0, 2.0, 0.5, 2**0.5, 1e-300, 1e300])):
        out = np.empty_like(x)
        _logs(x, out)
        np.testing.assert_allclose(out, np.log(x), rtol=1e-15, atol=0)
