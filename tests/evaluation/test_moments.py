"""Means and covariances that are added up batch by batch."""

import numpy as np
from numpy.testing import assert_allclose

from hierbandits.evaluation.moments import Moments


def test_moments_keep_their_digits_far_from_zero_and_in_any_batches():
    rng = np.random.default_rng(1)
    values = 1e9 + rng.normal(size=(400, 2)) @ np.array([[1.0, 0.4], [0.0, 2.0]])
    tasks = rng.integers(0, 3, 400)
    moments = Moments.zeros(4, 2)
    for start in range(0, 400, 30):
        moments.add(tasks[start : start + 30], values[start : start + 30])
    for task in range(3):
        mine = values[tasks == task]
        cov = np.cov(mine.T)
        assert_allclose(moments.comoment[task] / (len(mine) - 1), cov, rtol=1e-5)
        error = np.sqrt(np.array([2.0, -1.0]) @ cov @ np.array([2.0, -1.0]) / len(mine))
        assert_allclose(moments.error(2.0, -1.0)[task], error, rtol=1e-5)
    assert np.isnan(moments.error(1.0, 0.0)[3])  # no rows
    pooled = moments.pooled()
    assert_allclose(pooled.comoment[0] / 399, np.cov(values.T), rtol=1e-5)
    assert pooled.n[0] == 400
