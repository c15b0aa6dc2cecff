"""Nodes of sums: new ones know nothing, and copies are of the same kind."""

import numpy as np

from hierbandits.beliefs.count_nodes import CountNodes


def test_new_nodes_have_no_sums():
    nodes = CountNodes(3)
    nodes.plant_counts(2, (4,), None)
    assert nodes.state.shape[1:] == nodes.roots.shape[1:] == (2, 3)
    assert not nodes.state.any()
    assert not nodes.roots.any()
    nodes.state[:] = 5.0
    new = nodes.sprout(int(nodes.forest.root[1]), 2)
    assert not nodes.state[new].any()
    twin = nodes.copy()
    assert type(twin) is CountNodes
    twin.forget(np.arange(3))
    assert not twin.state[:3].any()
    assert nodes.state[:3].all()
