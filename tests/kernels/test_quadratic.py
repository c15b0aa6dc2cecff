"""Means and variances of linear functions of Gaussians."""

import numpy as np
from support.oracle import random_cov

from hierbandits.kernels.quadratic import linear_forms


def test_linear_forms_are_those_of_numpy():
    rng = np.random.default_rng(0)
    means, covs = rng.standard_normal((3, 4)), np.stack([random_cov(rng, 4) for _ in range(3)])
    nodes, features = np.array([2, 0, 2, 1]), rng.standard_normal((4, 4))
    mean, var = np.empty((2, 4))
    linear_forms(nodes, features, means, covs, mean, var)
    for e, node in enumerate(nodes):
        np.testing.assert_allclose(mean[e], features[e] @ means[node])
        np.testing.assert_allclose(var[e], features[e] @ covs[node] @ features[e])
