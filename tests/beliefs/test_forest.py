"""The shape of the trees: numbering, growth, and what a damaged file may not hold."""

import numpy as np
import pytest

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.forest import Forest, with_room
from hierbandits.beliefs.forms import form_of
from hierbandits.beliefs.levels import Levels, children_per_level

DEEP = GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]], [[0.5]], [[0.2]]], noise_std=1.0)
FLAT = GaussianHierarchy.linear(1, hyper_std=1.0, task_std=0.5, noise_std=1.0)


def test_tasks_come_first_tree_by_tree_and_roots_last():
    forest = Forest()
    new = forest.plant(np.array([0, 0]), (2, 3))  # two trees of two groups of three tasks
    assert (new.start, new.stop) == (0, 12 + 4 + 2)
    assert forest.root.tolist() == [16, 17]
    assert forest.parent[:12].tolist() == [12] * 3 + [13] * 3 + [14] * 3 + [15] * 3
    assert forest.parent[12:].tolist() == [16, 16, 17, 17, ~0, ~1]
    assert forest.level[: forest.size].tolist() == [2] * 12 + [1] * 4 + [0] * 2
    assert forest.path(4) == [4, 13, 16]
    assert [forest.population(node) for node in (0, 5, 6, 15, 17)] == [0, 0, 1, 1, 1]


def test_tasks_of_uneven_populations_keep_their_order():
    forest = Forest()
    forest.plant(np.array([0]), (1,))  # an earlier population, nodes 0 and 1
    population = np.array([1, 0, 1, 1, 2])
    new = forest.plant_tasks(np.array([0, 0, 0]), population)
    assert (new.start, new.stop) == (2, 10)
    assert forest.root.tolist() == [1, 7, 8, 9]
    tasks = np.arange(2, 7)
    np.testing.assert_array_equal(forest.parent[tasks], 7 + population)
    np.testing.assert_array_equal(forest.populations(tasks), 1 + population)
    np.testing.assert_array_equal(forest.populations(forest.root), [0, 1, 2, 3])
    assert forest.level[tasks].tolist() == [1] * 5


def test_a_copy_grows_apart():
    forest = Forest()
    forest.plant(np.array([0]), (2,))
    twin = forest.copy()
    assert twin.sprout(2, 1, 3) == slice(3, 6)
    assert twin.size == 3  # spare room still
    twin.size = 6
    assert twin.parent[3:6].tolist() == [2, 2, 2]
    assert forest.size == 3
    twin.parent[0] = 99
    assert forest.parent[0] == 2


def test_arrays_grow_by_half_and_first_of_all_exactly():
    array = with_room(np.empty((0, 2)), 0, 10)
    assert array.shape == (10, 2)
    array[:] = 7.0
    assert with_room(array, 10, 0) is array
    larger = with_room(array, 10, 1)
    assert larger.shape == (15, 2)
    assert (larger[:10] == 7.0).all()
    assert with_room(array, 10, 40).shape == (50, 2)


@pytest.mark.parametrize(
    ("parent", "level", "message"),
    [
        ([2, 2, ~1], [1, 1, 0], "parent must number the populations from 0"),
        ([2, 2, ~0], [1, 1, 1], "parent and level do not agree"),
        ([1, 2, ~0], [1, 1, 0], "parent and level do not agree"),  # a task below a task
        ([7, 2, ~0], [1, 1, 0], r"parent must be in \[0, 3\)"),
        ([2, 2, ~0], [5, 1, 0], r"level must be in \[0, 2\)"),
    ],
)
def test_a_shape_that_kernels_could_not_climb_is_refused(parent, level, message):
    levels = Levels(FLAT, form_of([FLAT]))
    levels.adopt(FLAT)
    arrays = {"parent": np.array(parent), "level": np.array(level)}
    with pytest.raises(ValueError, match=message):
        Forest.from_state(arrays, levels)


def test_a_saved_shape_comes_back():
    levels = Levels(DEEP, form_of([DEEP]))
    forest = Forest()
    forest.plant(np.array([levels.adopt(DEEP)] * 2), (2, 1))
    again = Forest.from_state(forest.state(), levels)
    assert again.size == forest.size
    for name in ("parent", "level", "root"):
        np.testing.assert_array_equal(getattr(again, name), getattr(forest, name))


def test_the_number_of_children_at_each_level():
    assert children_per_level(3, [FLAT]) == (3,)
    assert children_per_level((2, 3), [DEEP]) == (2, 3)
    assert children_per_level(0, [DEEP]) == ()
    with pytest.raises(ValueError, match="one count for each of the 2 levels below the root"):
        children_per_level(3, [DEEP])
    with pytest.raises(ValueError, match="hierarchies of one depth"):
        children_per_level(3, [FLAT, DEEP])


def test_the_newest_nodes_are_cut_and_grow_again():
    levels, forest = Levels(FLAT, form_of([FLAT])), Forest()
    forest.plant(np.array([levels.adopt(FLAT)]), (2,))
    before = {name: array.tolist() for name, array in forest.state().items()}
    forest.size = forest.sprout(2, 1, 3).stop
    forest.cut(3)
    assert {name: array.tolist() for name, array in forest.state().items()} == before
    assert forest.sprout(2, 1, 1) == slice(3, 4)
