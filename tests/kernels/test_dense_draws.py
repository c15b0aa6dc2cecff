"""Draws of nodes given their parents, against plain numpy."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import Belief, GaussianHierarchy
from hierbandits.kernels import dense_draws


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_a_draw_is_the_mean_given_the_parent_and_a_root_times_normals(d, singular):
    rng = np.random.default_rng(d)
    covs = [random_cov(rng, d) for _ in range(3)]
    if singular:
        direction = rng.standard_normal((d, 1))
        covs[1:] = [direction @ direction.T] * 2
    prior = GaussianHierarchy.deep(hyper_mean=rng.standard_normal(d), covs=covs, noise_std=0.5)
    belief = Belief(prior, (1, 2))
    belief.observe(rng.integers(0, 2, 30), rng.standard_normal((30, d)), rng.standard_normal(30))
    nodes = belief._nodes
    slots, parents = np.array([3, 2, 0, 1]), np.array([-1, 0, 1, 1])
    normals, out = rng.standard_normal((4, d)), np.empty((4, d))
    dense_draws.draw(nodes.arrays, slots, parents, np.zeros((4, d)), out)
    for slot, node in enumerate(slots):
        np.testing.assert_allclose(out[slot], belief.task(node).mean, atol=1e-9)
    dense_draws.draw(nodes.arrays, slots, parents, normals, out)
    for slot, node in enumerate(slots):
        mean, cov, gain = nodes.given_parent(node)
        above = out[parents[slot]] if parents[slot] >= 0 else np.zeros(d)
        block = nodes.state[node] if parents[slot] >= 0 else nodes.roots[0]
        own = nodes.levels.maps[nodes.forest.level[node], 0]
        root = own @ block[:-1]
        np.testing.assert_allclose(root @ root.T, cov, atol=1e-12)
        np.testing.assert_allclose(out[slot], mean + gain @ above + root @ normals[slot], atol=1e-9)
