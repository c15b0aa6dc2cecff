"""Linear functions of vectors, known or Gaussian."""

import numpy as np
from support.oracle import random_cov

from hierbandits.kernels.linear_forms import linear_forms, linear_values


def test_linear_forms_are_those_of_numpy():
    rng = np.random.default_rng(0)
    means, covs = rng.standard_normal((3, 4)), np.stack([random_cov(rng, 4) for _ in range(3)])
    nodes, features = np.array([2, 0, 2, 1]), rng.standard_normal((4, 4))
    mean, var = np.empty((2, 4))
    linear_forms(nodes, features, means, covs, mean, var)
    for e, node in enumerate(nodes):
        np.testing.assert_allclose(mean[e], features[e] @ means[node])
        np.testing.assert_allclose(var[e], features[e] @ covs[node] @ features[e])


def test_linear_values_are_inner_products():
    rng = np.random.default_rng(0)
    theta, features = rng.standard_normal((2, 3, 4)), rng.standard_normal((5, 4))
    runs, tasks, out = rng.integers(0, 2, 5), rng.integers(0, 3, 5), np.empty(5)
    linear_values(theta, runs, tasks, features, out)
    expected = np.einsum("ei,ei->e", features, theta[runs, tasks])
    np.testing.assert_allclose(out, expected)
