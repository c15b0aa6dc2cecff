"""Each task fitted alone."""

import numpy as np
import pytest
from support.learn_logs import drawn, sums_of

from hierbandits.learning.own_fits import OwnFits


@pytest.mark.parametrize("armed", [True, False])
def test_fits_are_those_of_least_squares(armed):
    scale = None if armed else np.array([1.0, 30.0, 0.01])
    rows = drawn(1, armed=armed, tasks=9, events=4, scale=scale)  # some have too few rows
    fits = OwnFits.of(sums_of(rows))
    residual, leverage = fits.residuals(rows.task, rows.features, rows.rewards)
    for s in range(9):
        mine = rows.task == s
        x, y = rows.vectors[mine], rows.rewards[mine]
        hat = x @ np.linalg.pinv(x)
        assert fits.rank[s] == np.linalg.matrix_rank(x)
        np.testing.assert_allclose(residual[mine], y - hat @ y, atol=1e-7)
        np.testing.assert_allclose(leverage[mine], np.diagonal(hat), atol=1e-8)
        assert fits.square[s] == pytest.approx(((y - hat @ y) ** 2).sum(), abs=1e-7)
