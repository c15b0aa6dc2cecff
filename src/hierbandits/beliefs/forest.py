"""The shape of a belief: trees of nodes, and who is whose parent."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.levels import Levels
from hierbandits.checks import index_array
from hierbandits.types import Indices


class Forest:
    """Trees of nodes, one tree per population, that grow at any time.

    A node is a row of two arrays: `parent`, or for a root the complement ~population, and `level`,
    a row of the tables in `Levels`.  Rows beyond `size` are spare room for later nodes.
    """

    def __init__(self) -> None:
        self.size = 0
        self.parent = np.empty(0, np.int32)
        self.level = np.empty(0, np.int32)
        self.root = np.empty(0, np.intp)  # the root of each population

    def plant(self, root_levels: Indices, children: Sequence[int]) -> slice:
        """New trees, (trees,), with so many children at each level; returns the new nodes.

        Tasks come first, tree by tree, then their parents, and the roots last.
        """
        num_trees = len(root_levels)
        per_tree = np.cumprod([1, *children])  # nodes at each level
        numbers = num_trees * per_tree
        starts = self.size + np.cumsum(numbers[::-1])[::-1] - numbers
        parents = ~(self.num_populations + np.arange(num_trees))
        new = self._reserved(int(numbers.sum()))
        for level, (start, number) in enumerate(zip(starts, numbers, strict=True)):
            if level > 0:
                parents = starts[level - 1] + np.arange(number) // children[level - 1]
            self.parent[start : start + number] = parents
            self.level[start : start + number] = np.repeat(root_levels + level, per_tree[level])
        self.root = np.append(self.root, np.arange(starts[0], starts[0] + num_trees))
        return new

    def plant_tasks(self, root_levels: Indices, population: Indices) -> slice:
        """New trees, (trees,), with tasks of these trees in any order; returns the new nodes.

        Tasks come first, in the order given, and the roots last.
        """
        roots = self.size + population.size + np.arange(len(root_levels))
        first = self.num_populations
        new = self._reserved(population.size + roots.size)
        tasks = slice(new.start, new.start + population.size)
        self.parent[tasks], self.level[tasks] = roots[population], root_levels[population] + 1
        self.parent[roots], self.level[roots] = ~(first + np.arange(roots.size)), root_levels
        self.root = np.append(self.root, roots)
        return new

    def sprout(self, parent: int, level: int, count: int) -> slice:
        """The rows of new children of a node, which are spare room until `size` counts them."""
        new = slice(self.size, self.size + count)
        self._make_room(count)
        self.parent[new], self.level[new] = parent, level
        return new

    def cut(self, count: int) -> None:
        """Remove the newest nodes, which are no roots; their rows become spare room."""
        self.size -= count

    def _reserved(self, count: int) -> slice:
        """The rows of so many new nodes."""
        new = slice(self.size, self.size + count)
        self._make_room(count)
        self.size = new.stop
        return new

    def _make_room(self, count: int) -> None:
        """Let there be spare room for so many nodes."""
        self.parent = with_room(self.parent, self.size, count)
        self.level = with_room(self.level, self.size, count)

    @property
    def num_populations(self) -> int:
        """The number of trees."""
        return len(self.root)

    @property
    def nbytes(self) -> int:
        """Bytes held, spare room included."""
        return self.parent.nbytes + self.level.nbytes

    def path(self, node: int) -> list[int]:
        """The node and its ancestors, up to the root."""
        nodes = []
        while node >= 0:
            nodes.append(node)
            node = int(self.parent[node])
        return nodes

    def population(self, node: int) -> int:
        """The population whose tree holds this node."""
        return ~int(self.parent[self.path(node)[-1]])

    def populations(self, nodes: Indices) -> Indices:
        """The population of each node in trees of at most two levels."""
        if self.num_populations == 1:
            return np.zeros(nodes.size, np.intp)
        above = self.parent[nodes]
        population: Indices = ~np.where(above >= 0, self.parent[above], above)
        return population

    def copy(self) -> "Forest":
        """An independent forest of the same shape."""
        twin = Forest()
        twin.size, twin.root = self.size, self.root
        twin.parent, twin.level = self.parent[: self.size].copy(), self.level[: self.size].copy()
        return twin

    def state(self) -> dict[str, NDArray[Any]]:
        """All state as arrays, without copies."""
        return {"parent": self.parent[: self.size], "level": self.level[: self.size]}

    @classmethod
    def from_state(cls, arrays: dict[str, NDArray[Any]], levels: Levels) -> "Forest":
        """The forest that `state` described, checked so that no kernel can go astray."""
        forest = cls()
        size = forest.size = len(arrays["parent"])
        rows = index_array("level", arrays["level"], len(levels.noise_var), "levels")
        parents = np.asarray(arrays["parent"])
        if parents.dtype.kind != "i" or parents.shape != rows.shape:
            raise ValueError(f"parent must be integers of shape {rows.shape}, as level")
        forest.level, forest.parent = rows.astype(np.int32), parents.astype(np.int32)
        if (forest.parent != parents).any():
            raise ValueError(f"parent must be in [-{size}, {size}), as there are {size} nodes")
        roots = np.flatnonzero(forest.parent < 0)
        forest.root = roots[np.argsort(~forest.parent[roots])]
        if (~forest.parent[forest.root] != np.arange(roots.size)).any():
            raise ValueError("parent must number the populations from 0")
        below = np.flatnonzero(forest.parent >= 0)
        above = index_array("parent", forest.parent[below], size, "nodes")
        orphans = levels.below[forest.level[above]] != forest.level[below]
        if orphans.any() or not np.isin(forest.level[roots], levels.root_rows()).all():
            raise ValueError("parent and level do not agree")
        return forest


def with_room(array: NDArray[Any], used: int, count: int) -> NDArray[Any]:
    """`array` with space for `count` more rows after the first `used`.

    A full array grows by half.  The first allocation is exact, so that tasks known at the start
    waste nothing.
    """
    needed = used + count
    if needed <= len(array):
        return array
    capacity = needed if used == 0 else max(needed, used + used // 2)
    larger = np.empty((capacity, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
