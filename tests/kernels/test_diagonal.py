"""The diagonal recursion is the dense one on diagonal covariances and unit vectors."""

import numpy as np

from hierbandits.kernels import dense, diagonal


def _state(rng, nodes, arms):
    """Two tasks below a root, with random diagonal factors: the arrays that kernels take."""
    parent, level = np.array([2, 2, -1], np.int32), np.array([1, 1, 0], np.int32)
    precision = np.stack([np.zeros(arms), rng.uniform(0.5, 2.0, arms)])
    return (
        parent,
        level,
        precision,
        rng.standard_normal((nodes, arms)),
        rng.uniform(0.3, 1.0, (nodes, arms)),
    )


def test_observing_shifting_and_predicting_agree_with_the_dense_form():
    rng = np.random.default_rng(0)
    parent, level, precision, mean, factor = _state(rng, 3, 2)
    wide = (
        parent,
        level,
        np.array([np.diag(row) for row in precision]),
        mean.copy(),
        np.array([np.diag(row) for row in factor]),
    )
    narrow = (parent, level, precision, mean, factor)
    tasks, arms, rewards = np.array([0, 1, 0]), np.array([1, 0, 1]), rng.standard_normal(3)
    noise_var, empty, unit = np.array([0.5, 0.5]), np.empty(0), np.eye(2)
    ours, theirs = (np.zeros((3, 1)) for _ in range(2))
    diagonal.observe(tasks, arms, rewards, empty, noise_var, *narrow, *ours)
    dense.observe(tasks, unit[arms], rewards, empty, noise_var, *wide, *theirs)
    np.testing.assert_allclose(ours, theirs)
    diagonal.shift(0, 1, 0.7, *narrow)
    dense.shift(0, unit[1], 0.7, *wide)
    np.testing.assert_allclose(narrow[3], wide[3])
    np.testing.assert_allclose(narrow[4] ** 2, [np.diagonal(s @ s.T) for s in wide[4]])
    ours, theirs = np.empty((2, 3, 4))
    nodes, rows = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    diagonal.predict(nodes, np.arange(2), rows, *narrow, *ours)
    dense.predict(nodes, unit, rows, *wide, *theirs)
    np.testing.assert_allclose(ours, theirs)
