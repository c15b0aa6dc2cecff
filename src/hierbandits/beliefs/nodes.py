"""What every node of a forest knows, in arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.algebra import squared
from hierbandits.beliefs.forest import Forest, with_room
from hierbandits.beliefs.levels import Levels
from hierbandits.checks import count as checked_count
from hierbandits.checks import index_array, state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


class Nodes:
    """The state of a belief: given its parent's parameter and the data below it, a node has

        theta ~ N(mean + K theta_parent, S S')        K = S S' Sigma^-1

    S is its row of `factor`.  A root's mean includes the hyper-mean.
    """

    def __init__(self, hierarchy: GaussianHierarchy) -> None:
        self.levels = Levels(hierarchy)
        self.forest = Forest()
        self.mean: Matrix = np.empty((0, hierarchy.dim))
        self.factor: Matrix = np.empty((0, *hierarchy.task_cov.shape))  # (nodes, K) if armed

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self.forest.size

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return self.levels.dim

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self.levels.is_armed

    @property
    def nbytes(self) -> int:
        """Bytes held, spare room included."""
        return self.forest.nbytes + self.mean.nbytes + self.factor.nbytes

    @property
    def arrays(self) -> tuple[Indices, Indices, Matrix, Matrix, Matrix]:
        """What kernels take, in their order."""
        forest = self.forest
        return forest.parent, forest.level, self.levels.precision, self.mean, self.factor

    def plant(
        self,
        hierarchies: Sequence[GaussianHierarchy],
        hyper_means: Matrix,
        children: Sequence[int],
        population: Indices | None = None,
    ) -> None:
        """New trees, the same number for each hierarchy, with these means at their roots, (P, d).

        Each has `children` nodes at each level, or the tasks of `population` (see `Forest`).
        """
        rows = [self.levels.adopt(hierarchy) for hierarchy in hierarchies]
        root_levels = np.repeat(rows, len(hyper_means) // len(rows))
        if population is None:
            self._start(self.forest.plant(root_levels, children))
        else:
            self._start(self.forest.plant_tasks(root_levels, population))
        first = self.forest.num_populations - len(hyper_means)
        self.mean[self.forest.root[first:]] = hyper_means

    def sprout(self, parent: int, count: int) -> Indices:
        """New children of a node; returns their ids."""
        parent = int(index_array("parent", [parent], self.size, "nodes")[0])
        count = checked_count("count", count)
        level = int(self.levels.below[self.forest.level[parent]])
        if level < 0:
            raise ValueError(f"parent must be above the level of tasks, got node {parent}, a task")
        new = self.forest.sprout(parent, level, count)
        self._start(new)
        return np.arange(new.start, new.stop)

    def _start(self, new: slice) -> None:
        """Give new nodes, the last of the forest, their prior."""
        number = new.stop - new.start
        self.mean = with_room(self.mean, new.start, number)
        self.factor = with_room(self.factor, new.start, number)
        self.mean[new] = 0.0
        levels = self.forest.level[new]
        np.take(self.levels.prior_factor, levels, axis=0, out=self.factor[new], mode="clip")

    def replant(self, roots: Indices, hierarchies: Sequence[GaussianHierarchy]) -> Indices:
        """Start trees of two levels over, each with another hierarchy; returns their tasks."""
        forest = self.forest
        tree = np.full(self.size, -1)
        tree[roots] = np.arange(roots.size)
        parent = forest.parent[: self.size]
        tasks = np.flatnonzero((parent >= 0) & (tree[parent] >= 0))
        levels = np.array([self.levels.adopt(hierarchy) for hierarchy in hierarchies])
        for nodes, rows in ((roots, levels), (tasks, levels[tree[parent[tasks]]] + 1)):
            forest.level[nodes], self.mean[nodes] = rows, 0.0
            self.factor[nodes] = self.levels.prior_factor[rows]
        self.mean[roots] = [hierarchy.hyper_mean for hierarchy in hierarchies]
        return tasks

    def given_parent(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean part, its covariance P and its gain K = P Sigma^-1, given its parent."""
        factor = self.factor[node]
        precision = self.levels.precision[self.forest.level[node]]
        if self.is_armed:
            cov, precision = np.diag(factor**2), np.diag(precision)
        else:
            cov = squared(factor, armed=False)
        return self.mean[node].copy(), cov, cov @ precision

    def marginal(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean, its own covariance and the one it inherits; they add up to its cov."""
        mean, within, gain = self.given_parent(node)
        parent = int(self.forest.parent[node])
        if parent < 0:
            return mean, within, np.zeros_like(within)
        above, own, inherited = self.marginal(parent)
        return mean + gain @ above, within, gain @ (own + inherited) @ gain.T

    def copy(self) -> "Nodes":
        """An independent state of the same nodes."""
        twin = Nodes.__new__(Nodes)
        twin.levels, twin.forest = self.levels.copy(), self.forest.copy()
        twin.mean, twin.factor = self.mean[: self.size].copy(), self.factor[: self.size].copy()
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        meta, tables = self.levels.state()
        own = {"mean": self.mean[: self.size], "factor": self.factor[: self.size]}
        return meta, self.forest.state() | own | tables

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Nodes":
        """The nodes that `state` described, checked."""
        nodes = cls.__new__(cls)
        nodes.levels = Levels.from_state(meta, arrays)
        nodes.forest = Forest.from_state(arrays, nodes.levels)
        shape = nodes.levels.prior_factor.shape[1:]
        nodes.mean = state_array("mean", arrays["mean"], (nodes.size, nodes.dim))
        nodes.factor = state_array("factor", arrays["factor"], (nodes.size, *shape))
        return nodes
