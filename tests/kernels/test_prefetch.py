"""The hint to the processor: it is compiled in, and changes nothing."""

import numpy as np
from numba import njit

from hierbandits.kernels.prefetch import prefetch


@njit
def _total(values):
    total = 0.0
    for i in range(values.size):
        if i + 8 < values.size:
            prefetch(values, i + 8)
        total += values.reshape(-1)[i]
    return total


def test_a_loop_with_the_hint_gives_the_same_and_asks_the_processor():
    values = np.arange(60.0).reshape(6, 10)
    assert _total(values) == values.sum()
    np.testing.assert_array_equal(values.ravel(), np.arange(60.0))
    (code,) = _total.inspect_llvm().values()
    assert "llvm.prefetch" in code
