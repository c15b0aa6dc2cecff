"""What the numbers of a Gamma hierarchy mean."""

import numpy as np
from support.grid_worlds import truth

import hierbandits as hb


def test_tasks_have_the_stated_mean_and_width():
    prior = hb.GammaHierarchy(
        1, hyper_mean=0.7, hyper_std=1e-3, task_std=0.6, task_factor=1.001, resolution=16
    )
    _, _, theta = truth(np.random.default_rng(0), prior, 100_000)
    assert abs(theta.mean() - np.exp(0.7)) < 0.03
    assert abs(theta.std() / theta.mean() - 0.6) < 0.01
    known = hb.GridBelief(prior, 1).predict([0], [0])
    np.testing.assert_allclose(known.mean, theta.mean(), rtol=0.02)
    np.testing.assert_allclose(known.std, theta.std(), rtol=0.03)
