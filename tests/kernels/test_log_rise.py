"""Rising factorials, where digits would be lost."""

import numpy as np
import pytest

from hierbandits.kernels.log_rise import log_rise


@pytest.mark.parametrize("a", [1e-9, 0.03, 1.0, 7.5, 29.9, 30.0, 31.0, 1e4, 1e12, 1e30])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 40, 1000])
def test_it_is_the_sum_of_logs(a, n):
    right = np.log(a + np.arange(n)).sum()
    assert log_rise(a, float(n)) == pytest.approx(right, rel=3e-13, abs=1e-14)


def test_large_and_broken_numbers():
    half = np.log(2.0 / (0.75 * np.sqrt(np.pi)))  # Gamma(3) / Gamma(2.5)
    assert log_rise(2.5, 0.5) == pytest.approx(half, rel=1e-12)
    steps = [log_rise(5.0 + 1000 * k, 1000.0) for k in range(1000)]
    assert log_rise(5.0, 1e6) == pytest.approx(sum(steps), rel=1e-12)
