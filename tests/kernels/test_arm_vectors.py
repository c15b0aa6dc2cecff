"""Arms are unit vectors of the dense recursion."""

import numpy as np
import pytest
from support.worlds import random_hierarchy

from hierbandits import Belief, GaussianHierarchy
from hierbandits.kernels import arm_vectors, dense
from hierbandits.kernels.loops import TIED
from hierbandits.kernels.node_address import address_table
from hierbandits.kernels.node_arrays import NodeArrays


def _copies():
    rng = np.random.default_rng(0)
    prior = random_hierarchy(rng, "correlated", 3, (1.0, 0.5, 0.4), np.zeros(3), 0.7)
    belief = Belief(prior, (2, 2))
    belief.observe(rng.integers(0, 4, 9), rng.integers(0, 3, 9), rng.standard_normal(9))
    arrays = belief._nodes.arrays
    return [NodeArrays(tuple(array.copy() for array in arrays)) for _ in range(2)]


def test_every_loop_is_that_of_unit_vectors():
    (ours, theirs), unit, rng = _copies(), np.eye(3), np.random.default_rng(1)
    tables = address_table(ours), address_table(theirs)
    at_ours, at_theirs = (table.ctypes.data for table in tables)
    tasks, arms, rewards = np.array([0, 3, 0, 2]), np.array([1, 0, 2, 1]), rng.standard_normal(4)
    noise, one, other = rng.uniform(0.5, 1.0, 4), np.zeros((3, 1)), np.zeros((3, 1))
    arm_vectors.observe(ours, tasks, arms, rewards, noise, one)
    dense.observe(theirs, tasks, unit[arms], rewards, noise, other)
    np.testing.assert_array_equal(one, other)
    found = arm_vectors.observe_event(at_ours, 1, 2, 0.4, 0.3, one)
    assert found == dense.observe_event(at_theirs, 1, unit[2], 0.4, 0.3, other)
    arm_vectors.shift(ours, 3, 1, 0.7)
    dense.shift(theirs, 3, unit[1], 0.7)
    for mine, wide in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, wide)
    assert arm_vectors.predict_event(at_ours, 2, 1) == dense.predict_event(at_theirs, 2, unit[1])
    one, other, rows = np.empty((3, 4)), np.empty((3, 4)), np.array([1, 1, 0, 1])
    arm_vectors.predict(ours, tasks, np.array([2, 0]), rows, one)
    dense.predict(theirs, tasks, unit, np.array([0, 0, 2, 0]), other)
    np.testing.assert_array_equal(one, other)
    table, normals = np.array([2, 0]), rng.standard_normal(20)
    for node in range(4):
        place = arm_vectors.choose(at_ours, node, normals, 2, table, 1e60)
        assert place == dense.choose(at_theirs, node, normals, 2, unit[table], 1e60)
    assert arm_vectors.choose(at_ours, 0, normals, 2, np.array([1, 1]), 1e60) == TIED


def test_a_belief_of_forms_that_do_not_match_is_refused():
    plain = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    together = GaussianHierarchy.armed(
        2, hyper_std=1.0, task_std=0.5, common_std=1.0, noise_std=1.0
    )
    with pytest.raises(ValueError, match="prior must have the form of"):
        Belief([plain, together], 2)
    with pytest.raises(ValueError, match="prior must have the form of"):
        Belief([together, plain], 2)
