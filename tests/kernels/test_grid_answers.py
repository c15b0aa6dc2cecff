"""Cells are drawn by their weights."""

import numpy as np
from scipy import stats

import hierbandits as hb


def test_draws_of_means_have_the_weights_of_cells():
    belief = hb.GridBelief(hb.BetaHierarchy(1, resolution=8, hyper_std=1.0), 2)
    belief.observe([0, 1, 1], [0, 0, 0], [1.0, 0.0, 0.0], exposure=[4.0, 3.0, 1.0])
    cells = belief.hyper_cells(0)
    root, size = belief.roots, 20_000
    theta, slots = belief._raw_draws(np.random.default_rng(0), root, repeats=size)
    drawn = theta[slots, 0]
    names, counts = np.unique(drawn, return_counts=True)
    assert np.isin(names, cells.mean).all()
    weights = np.array([cells.weight[cells.mean == name].sum() for name in names])
    often = size * weights > 5
    expected = size * weights[often]
    chi = ((counts[often] - expected) ** 2 / expected).sum()
    assert stats.chi2.sf(chi, often.sum() - 1) > 1e-4
    moments = belief.predict(root, [0])
    np.testing.assert_allclose(moments.mean, (cells.weight * cells.mean).sum())
    assert moments.shared_var[0] == 0.0
