"""Compiled loops over the shape of a forest: which nodes a round draws, parents first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.compiler import compiled, inlined
from hierbandits.types import Indices, Matrix, Vector


@compiled
def table_place(table: Indices, slot_node: Indices, node: int) -> int:
    """The place in the hash table that holds `node`'s slot, or is free for it."""
    mask = table.size - 1
    hashed = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
    place = int(hashed >> np.uint64(32)) & mask
    while table[place] >= 0 and slot_node[table[place]] != node:
        place = (place + 1) & mask
    return place


@compiled
def lineage(
    nodes: Indices,
    parent: Indices,
    shared: bool,
    slot_node: Indices,  # filled; it has room for events times levels
    slot_parent: Indices,  # filled; the same room
    event_slot: Indices,  # filled, (E,)
) -> int:
    """The distinct nodes of a round and all their ancestors, each in a slot after its parent's.

    Fills the node and the parent's slot of each slot, and the slot of each event; returns the
    number of slots.  With `shared` false every distinct task gets ancestors of its own.
    """
    size = 4
    while size < 2 * slot_node.size:
        size *= 2
    table = np.full(size, -1)
    path = np.empty(slot_node.size, np.intp)
    used = 0
    last, last_slot = -1, -1  # a node above the tasks: often the next task's parent, too
    for e in range(nodes.size):
        place = table_place(table, slot_node, nodes[e])
        if table[place] >= 0:
            event_slot[e] = table[place]
            continue
        length = 0
        slot = -1
        node = nodes[e]
        while node >= 0:
            if shared and length > 0:
                known = last_slot if node == last else table[table_place(table, slot_node, node)]
                if known >= 0:
                    slot, last, last_slot = known, node, known
                    break
            path[length] = node
            length += 1
            node = parent[node]
        for step in range(length - 1, -1, -1):
            slot_node[used] = path[step]
            slot_parent[used] = slot
            slot = used
            used += 1
            if shared or step == 0:
                table[table_place(table, slot_node, path[step])] = slot
        event_slot[e] = slot
    return used


@inlined
def repeated_path(
    node: int, parent: Indices, number: int, normals: Vector, first: int, each: int
) -> tuple[Indices, Indices, Matrix]:
    """The slots of a node and its ancestors, 1 + number times over: their nodes and parents.

    The slots of the first time have zeros for normals, and the others take theirs in turn.
    """
    levels, above = 0, node
    while above >= 0:
        levels, above = levels + 1, parent[above]
    size = levels * (1 + number)
    slot_node, slot_parent = np.empty(size, np.intp), np.empty(size, np.intp)
    own = np.zeros((size, each))
    for s in range(levels - 1, -1, -1):
        for start in range(0, size, levels):
            slot_node[start + s] = node
            slot_parent[start + s] = start + s - 1 if s > 0 else -1
        node = parent[node]
    for s in range(levels, size):
        for i in range(each):
            own[s, i] = normals[first + (s - levels) * each + i]
    return slot_node, slot_parent, own


@compiled
def first_with_children(nodes: NDArray[Any], level: NDArray[Any], level_below: NDArray[Any]) -> int:
    """The position of the first node whose level is above another, or -1."""
    for i in range(nodes.size):
        if level_below[level[nodes[i]]] >= 0:
            return i
    return -1
