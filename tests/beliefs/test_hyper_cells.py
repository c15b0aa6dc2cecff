"""The cells of a grid, as people see them."""

import numpy as np
from support.grid_worlds import KINDS

import hierbandits as hb


def test_cells_are_the_posterior_of_hyper_parameters():
    for kind in KINDS.values():
        belief = hb.GridBelief(kind(2, resolution=24), 3, 2)
        belief.observe([3, 4, 5], [1, 1, 1], [1.0, 0.0, 1.0])
        cells = belief.hyper_cells(1, 1)
        assert [part.shape for part in cells] == [(24 * 24,)] * 3
        assert (cells.mean > 0).all()
        assert (cells.task_std > 0).all()
        mean = (cells.weight * cells.mean).sum()
        np.testing.assert_allclose(mean, belief.hyper(1).mean[1], rtol=1e-12)
        other = belief.hyper_cells(1, 0)
        assert not np.array_equal(other.weight, cells.weight)
        cells.weight[:] = 0.0  # a copy
        assert belief.hyper_cells(1, 1).weight.sum() > 0.99
