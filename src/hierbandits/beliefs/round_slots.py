"""Which nodes a round draws, each in a slot after its parent's."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.forest import Forest
from hierbandits.kernels.lineage import lineage
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True, eq=False)
class RoundSlots:
    """The slots of a round: one for every distinct node and for each of its ancestors."""

    node: Indices  # of each slot
    parent: Indices  # the slot of the node's parent, an earlier one; -1 for a root
    of_event: Indices  # the slot of each event, draw after draw

    @classmethod
    def of(
        cls, nodes: Indices, forest: Forest, num_levels: int, *, shared: bool, repeats: int
    ) -> "RoundSlots":
        """The slots of these nodes, so many times over.

        Unless ancestors are `shared`, every distinct node gets ancestors of its own.
        """
        most = nodes.size * num_levels
        node, parent = np.empty(most, np.intp), np.empty(most, np.intp)
        of_event = np.empty(nodes.size, np.intp)
        used = lineage(nodes, forest.parent, shared, node, parent, of_event)
        if used < most:
            node, parent = node[:used], parent[:used]
        if repeats > 1:
            first = used * np.arange(repeats)[:, None]
            parent = np.where(parent < 0, -1, parent + first).ravel()
            node, of_event = np.tile(node, repeats), (of_event + first).ravel()
        return cls(node, parent, of_event)
