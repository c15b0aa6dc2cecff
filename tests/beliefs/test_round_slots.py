"""The slots of a round."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs.round_slots import RoundSlots


def _forest():
    prior = GaussianHierarchy.deep(hyper_mean=[0.0], covs=[np.eye(1)] * 3, noise_std=1.0)
    return Belief(prior, (2, 2), 2)._nodes.forest  # two populations of two groups of two tasks


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("shared", [True, False])
def test_every_slot_comes_after_its_parents(shared, repeats):
    forest, nodes = _forest(), np.array([5, 0, 1, 0])
    slots = RoundSlots.of(nodes, forest, 3, shared=shared, repeats=repeats)
    turn = 9 if not shared else 8 - 1  # three distinct tasks; 0 and 1 share group and root
    assert slots.node.size == repeats * turn
    assert slots.node[slots.of_event].tolist() == nodes.tolist() * repeats
    for slot, (node, above) in enumerate(zip(slots.node, slots.parent, strict=True)):
        assert above < slot
        assert slot // turn == (above if above >= 0 else slot) // turn  # of the same draw
        parent = forest.parent[node]
        assert (above == -1) if parent < 0 else slots.node[above] == parent


def test_a_round_of_nobody_has_no_slots():
    slots = RoundSlots.of(np.empty(0, np.intp), _forest(), 3, shared=True, repeats=2)
    assert slots.node.size == slots.of_event.size == 0
