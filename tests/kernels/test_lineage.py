"""Which nodes a round draws: each once, after its parent."""

import numpy as np

from hierbandits.kernels.lineage import first_with_children, lineage

# Tasks 0 to 3, groups 4 and 5, roots 6 and 7: 0 and 1 below 4, 2 below 5, 3 below root 7.
PARENT = np.array([4, 4, 5, 7, 6, 6, -1, -2], np.int32)


def _laid_out(nodes, shared=True):
    nodes = np.array(nodes, np.intp)
    most = 3 * nodes.size
    slot_node, slot_parent = np.full(most, -9, np.intp), np.full(most, -9, np.intp)
    event_slot = np.empty(nodes.size, np.intp)
    used = lineage(nodes, PARENT, shared, slot_node, slot_parent, event_slot)
    return slot_node[:used], slot_parent[:used], event_slot


def test_every_node_and_ancestor_has_one_slot_after_its_parents():
    nodes = [1, 0, 3, 1, 2]
    slot_node, slot_parent, event_slot = _laid_out(nodes)
    assert sorted(slot_node) == [0, 1, 2, 3, 4, 5, 6, 7]
    np.testing.assert_array_equal(slot_node[event_slot], nodes)
    for slot, above in enumerate(slot_parent):
        assert above < slot
        expected = PARENT[slot_node[slot]]
        assert (above == -1) if expected < 0 else (slot_node[above] == expected)


def test_without_sharing_every_task_has_ancestors_of_its_own():
    slot_node, slot_parent, event_slot = _laid_out([0, 1, 0], shared=False)
    assert sorted(slot_node) == [0, 1, 4, 4, 6, 6]
    assert event_slot[0] == event_slot[2] != event_slot[1]
    paths = [slot_parent[slot_parent[slot]] for slot in event_slot[:2]]
    assert paths[0] != paths[1]


def test_the_first_node_above_the_tasks():
    level, below = np.array([1, 1, 0], np.int32), np.array([1, -1], np.int32)
    assert first_with_children(np.array([0, 1]), level, below) == -1
    assert first_with_children(np.array([0, 2, 1]), level, below) == 1
