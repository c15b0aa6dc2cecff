"""One climb of the square-root recursion, against conditioning in plain numpy."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits.kernels import dense
from hierbandits.kernels.node_address import address_table
from hierbandits.kernels.node_arrays import NodeArrays


def _task_below_a_root(rng, d, is_plain):
    """A task with a random posterior given mu, its root, and both in plain numpy."""
    root_cov, task_cov = random_cov(rng, d), random_cov(rng, d)
    own = np.eye(d) if is_plain else rng.standard_normal((d, d))  # T
    gain = rng.standard_normal((d, d))  # G
    root_mean, task_mean = rng.standard_normal((2, d))
    root, task = (
        np.vstack([np.linalg.cholesky(cov), mean])[None].copy()
        for cov, mean in ((root_cov, root_mean), (task_cov, task_mean))
    )
    one = np.array([np.eye(d)] * 4)
    nodes = NodeArrays(
        (
            np.array([1, -1], np.int32),
            np.array([1, 0], np.int32),
            np.array([[0.3, 1.0], [0.3, float(is_plain)]]),
            np.stack([one, np.array([own, gain, own.T, gain.T])]),
            np.concatenate([task, task]),
            root,
        )
    )
    return nodes, own, gain, (root_mean, root_cov), (task_mean, task_cov)


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("d", [1, 3, 4, 6])
def test_an_event_conditions_the_task_and_then_its_root(d, is_plain):
    rng = np.random.default_rng(d)
    nodes, own, gain, (root_mean, root_cov), (mean, cov) = _task_below_a_root(rng, d, is_plain)
    features, y = rng.standard_normal((1, d)), 1.7
    out = np.empty((3, 1))
    dense.predict(nodes, np.array([0]), features, np.array([0]), out)
    x = own.T @ features[0]
    told = gain.T @ cov @ x
    expected = x @ mean + told @ root_mean, x @ cov @ x, told @ root_cov @ told
    np.testing.assert_allclose(out[:, 0], expected)

    evidence = np.zeros((3, 1))
    dense.observe(nodes, np.array([0]), features, np.array([y]), np.empty(0), evidence)
    var, residual = x @ cov @ x + 0.3, y - x @ mean
    above, innovation = told @ root_cov @ told + var, residual - told @ root_mean
    np.testing.assert_allclose(evidence[:, 0], [1, np.log(above), innovation**2 / above])
    *_, state, roots = nodes
    for block, old_mean, old_cov, at, r, v in (
        (state[0], mean, cov, x, residual, var),
        (roots[0], root_mean, root_cov, told, innovation, above),
    ):
        np.testing.assert_allclose(block[d], old_mean + old_cov @ at * r / v)
        after = old_cov - np.outer(old_cov @ at, old_cov @ at) / v
        np.testing.assert_allclose(block[:d] @ block[:d].T, after, atol=1e-12)


def test_a_root_learns_its_own_events():
    rng = np.random.default_rng(0)
    nodes, _, _, (mean, cov), _ = _task_below_a_root(rng, 3, True)
    x, out, evidence = rng.standard_normal((1, 3)), np.empty((3, 1)), np.zeros((3, 1))
    dense.predict(nodes, np.array([1]), x, np.array([0]), out)
    np.testing.assert_allclose(out[:, 0], [x[0] @ mean, x[0] @ cov @ x[0], 0.0])
    table = address_table(nodes)
    address = table.ctypes.data
    np.testing.assert_allclose(dense.predict_event(address, 1, x[0]), out[:, 0])
    found = dense.observe_event(address, 1, x[0], 0.4, 0.0, evidence)
    var = x[0] @ cov @ x[0] + 0.3
    np.testing.assert_allclose(found, [0.4 - x[0] @ mean, var])
    np.testing.assert_allclose(nodes[-1][0, 3], mean + cov @ x[0] * (0.4 - x[0] @ mean) / var)
    np.testing.assert_allclose(evidence[:, 0], [1, np.log(var), (0.4 - x[0] @ mean) ** 2 / var])
