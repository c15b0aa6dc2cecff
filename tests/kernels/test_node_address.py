"""Arrays that a kernel finds by their address are those that were given."""

import numpy as np
import pytest
from numba import njit

from hierbandits.kernels.node_address import address_table, dense_nodes, diagonal_nodes
from hierbandits.kernels.node_arrays import NodeArrays


@njit
def _dense_copies(address):
    parent, level, assumed, maps, state, roots = dense_nodes(address)
    return parent.copy(), level.copy(), assumed.copy(), maps.copy(), state.copy(), roots.copy()


@njit
def _diagonal_copies(address):
    parent, level, assumed, maps, state, roots = diagonal_nodes(address)
    return parent.copy(), level.copy(), assumed.copy(), maps.copy(), state.copy(), roots.copy()


@pytest.mark.parametrize("armed", [True, False])
def test_every_array_is_found_with_its_shape(armed):
    rng = np.random.default_rng(0)
    nodes, levels, populations, d = 7, 4, 2, 3
    square, block = ((2, d), (2, d)) if armed else ((4, d, d), (d + 1, d))
    arrays = NodeArrays(
        (
            rng.integers(9, size=nodes, dtype=np.int32),
            rng.integers(9, size=nodes, dtype=np.int32),
            rng.normal(size=(levels, 2)),
            rng.normal(size=(levels, *square)),
            rng.normal(size=(nodes, *block)),
            rng.normal(size=(populations, *block)),
        )
    )
    table = address_table(arrays)
    copies = (_diagonal_copies if armed else _dense_copies)(table.ctypes.data)
    for found, given in zip(copies, arrays, strict=True):
        assert found.dtype == given.dtype
        np.testing.assert_array_equal(found, given, strict=True)
