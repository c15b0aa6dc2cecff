"""Generators in kernels, by their address."""

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels.random_address import generator_at, random_table


@compiled
def _drawn(address, out):
    rng = generator_at(address)
    for i in range(len(out)):
        out[i, 0] = rng.random()
        out[i, 1] = rng.standard_normal()
        out[i, 2] = rng.standard_gamma(1.7)
        out[i, 3] = rng.standard_exponential()


def test_a_kernel_draws_what_the_generator_would_have_drawn():
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    table, out = random_table(rng), np.empty((500, 4))
    _drawn(table.ctypes.data, out[:200])
    rng.random()  # both go on where the other has stopped
    _drawn(table.ctypes.data, out[200:])
    for i, row in enumerate(out):
        if i == 200:
            same.random()
        right = same.random(), same.standard_normal(), same.standard_gamma(1.7)
        np.testing.assert_allclose(row, [*right, same.standard_exponential()], rtol=1e-12)
    assert rng.random() == same.random()
