"""The diagonal recursion is the dense one on diagonal covariances and unit vectors."""

import numpy as np

from hierbandits.kernels import dense, diagonal
from hierbandits.kernels.loops import TIED, UNFIT
from hierbandits.kernels.node_address import address_table
from hierbandits.kernels.node_arrays import NodeArrays


def _arrays(rng, arms):
    """Two tasks below a group below a root, of diagonal factors: armed arrays, and full ones."""
    parent, level = np.array([2, 2, 3, -1], np.int32), np.array([2, 2, 1, 0], np.int32)
    std = np.vstack([np.ones(arms), rng.uniform(0.5, 2.0, (2, arms))])
    maps, assumed = np.stack([std, 1 / std], axis=1), np.array([[0.5, 1], [0.5, 0], [0.5, 0]])
    state, roots = rng.uniform(0.3, 1.0, (4, 2, arms)), rng.uniform(0.3, 1.0, (1, 2, arms))

    def full(blocks):
        return np.array([np.vstack([np.diag(factor), mean]) for factor, mean in blocks])

    wide = np.array([[np.diag(m) for m in (own, gain, own, gain)] for own, gain in maps])
    return (
        NodeArrays((parent, level, assumed, maps, state, roots)),
        NodeArrays((parent, level, assumed, wide, full(state), full(roots))),
    )


def _same(narrow, wide):
    for ours, theirs in zip(narrow[-2:], wide[-2:], strict=True):
        np.testing.assert_allclose(ours[:, 1], theirs[:, -1])
        squares = [np.diagonal(block[:-1] @ block[:-1].T) for block in theirs]
        np.testing.assert_allclose(ours[:, 0] ** 2, squares)


def test_observing_shifting_predicting_and_drawing_agree_with_the_dense_form():
    rng = np.random.default_rng(0)
    narrow, wide = _arrays(rng, 2)
    tables = address_table(narrow), address_table(wide)
    at_narrow, at_wide = (table.ctypes.data for table in tables)
    tasks, arms, rewards = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 1]), rng.standard_normal(4)
    empty, unit = np.empty(0), np.eye(2)
    ours, theirs = np.zeros((2, 3, 1))
    diagonal.observe(narrow, tasks, arms, rewards, empty, ours)
    dense.observe(wide, tasks, unit[arms], rewards, empty, theirs)
    np.testing.assert_allclose(ours, theirs)
    _same(narrow, wide)
    for noise_std, counted in ((0.0, (ours, theirs)), (0.7, (ours[:, :0], theirs[:, :0]))):
        before = ours.copy()
        one = diagonal.observe_event(at_narrow, 1, 0, 0.4, noise_std, counted[0].copy(order="C"))
        other = dense.observe_event(at_wide, 1, unit[0], 0.4, noise_std, counted[1].copy(order="C"))
        np.testing.assert_allclose(one, other)
        np.testing.assert_array_equal(ours, before)
    for node in (0, 2, 3):
        one = diagonal.predict_event(at_narrow, node, 1)
        np.testing.assert_allclose(one, dense.predict_event(at_wide, node, unit[1]))
    _same(narrow, wide)
    diagonal.shift(narrow, 0, 1, 0.7)
    dense.shift(wide, 0, unit[1], 0.7)
    _same(narrow, wide)
    ours, theirs = np.empty((2, 3, 5))
    nodes, rows = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 0, 1])
    diagonal.predict(narrow, nodes, np.arange(2), rows, ours)
    dense.predict(wide, nodes, unit, rows, theirs)
    np.testing.assert_allclose(ours, theirs)
    slots, parents = np.array([3, 2, 0, 1]), np.array([-1, 0, 1, 1])
    normals = rng.standard_normal((4, 2))
    ours, theirs = np.empty((2, 4, 2))
    diagonal.draw(narrow, slots, parents, normals, ours)
    dense.draw(wide, slots, parents, normals, theirs)
    np.testing.assert_allclose(ours, theirs)
    normals = rng.standard_normal(9)  # the second to the seventh are those of a path
    for node in (0, 1, 2):
        rows = np.array([1, 0])
        place = diagonal.choose(at_narrow, node, normals, 1, rows, 1.0)
        assert place == dense.choose(at_wide, node, normals, 1, unit[rows], 1.0)
        path = [3, 2, node][: 3 if node < 2 else 2]
        drawn = np.empty((len(path), 2))
        given = normals[1 : 1 + 2 * len(path)].reshape(-1, 2)
        dense.draw(wide, np.array(path), np.arange(-1, len(path) - 1), given, drawn)
        assert place == drawn[-1][rows].argmax()


def test_a_choice_says_if_arms_are_tied_or_unfit():
    arrays = _arrays(np.random.default_rng(1), 2)
    tables = [address_table(each) for each in arrays]
    narrow, wide = (table.ctypes.data for table in tables)
    normals = np.ones(6)
    assert diagonal.choose(narrow, 0, normals, 0, np.array([1, 1]), 1.0) == TIED
    assert dense.choose(wide, 0, normals, 0, np.ones((2, 2)), 2.0) == TIED
    for wrong in (np.nan, np.inf, -np.inf, 3.0):
        assert dense.choose(wide, 0, normals, 0, np.array([[1.0, wrong], [0.0, 1.0]]), 2.0) == UNFIT
