"""A kernel calls functions that it knows by address alone."""

import numpy as np
from numba import njit
from numpy.testing import assert_allclose

from hierbandits.compiler import compiled_address
from hierbandits.kernels.family_call import NUMBER, NUMBERS, call_family, fill_family


def _one(a, b, c, d):
    return a + 10 * b + 100 * c + 1000 * d


def _several(a, b, c, eta, out, number):
    for i in range(number):
        out[i] = a + 10 * b + 100 * c + 1000 * eta[i]


@njit
def _call(one, several, eta, out):
    fill_family(several, 1.0, 2.0, 3.0, eta, out, eta.size - 1)
    return call_family(one, 1.0, 2.0, 3.0, 4.0)


def test_functions_are_called_by_their_addresses():
    one, several = compiled_address(_one, NUMBER), compiled_address(_several, NUMBERS)
    assert one == compiled_address(_one, NUMBER)  # compiled once
    out = np.full(3, -1.0)
    assert _call(one, several, np.array([4.0, 5.0, 6.0]), out) == 4321.0
    assert_allclose(out, [4321.0, 5321.0, -1.0])
