"""What the numbers of a Beta hierarchy mean."""

import numpy as np
from support.grid_worlds import truth

import hierbandits as hb


def test_tasks_have_the_stated_mean_and_width():
    prior = hb.BetaHierarchy(
        1, hyper_mean=-2.2, hyper_std=1e-3, task_std=0.1, task_factor=1.001, resolution=16
    )
    _, _, theta = truth(np.random.default_rng(0), prior, 100_000)
    odds = np.log(theta / (1 - theta))
    assert abs(theta.mean() - 1 / (1 + np.exp(2.2))) < 2e-4
    assert abs(odds.std() - 0.1) < 2e-3
    known = hb.GridBelief(prior, 1).predict([0], [0])
    np.testing.assert_allclose(known.mean, theta.mean(), rtol=5e-3)
    np.testing.assert_allclose(known.std, theta.std(), rtol=0.03)
