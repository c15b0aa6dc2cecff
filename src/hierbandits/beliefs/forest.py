"""The nodes of a belief in arrays: who is whose parent, and what each node knows."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.algebra import inverse, square_root
from hierbandits.checks import count as checked_count
from hierbandits.checks import index_array, state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector

_NODE_ARRAYS = ("parent", "level", "mean", "factor")
_LEVEL_ARRAYS = ("prior_factor", "precision")


class Forest:
    """Trees of nodes, one tree per population, that grow at any time.

    A node is a row of four arrays: `parent` (for a root ~population), `level` (a row of the level
    tables), `mean` and `factor`.  The level tables hold one row per hierarchy and depth, root
    first.  Rows beyond `size` are spare room, so that adding a node is amortised.
    """

    def __init__(self, hierarchy: GaussianHierarchy) -> None:
        self.dim = hierarchy.dim
        self.is_armed = hierarchy.is_armed
        self.hierarchies: list[GaussianHierarchy] = []
        self.size = 0
        shape = hierarchy.task_cov.shape
        self.parent = np.empty(0, np.int32)
        self.level = np.empty(0, np.int32)
        self.mean: Matrix = np.empty((0, self.dim))
        self.factor: Matrix = np.empty((0, *shape))  # (nodes, d, d), or (nodes, K) if armed
        self.root = np.empty(0, np.intp)  # of each population
        self.prior_factor: Matrix = np.empty((0, *shape))  # level tables from here on
        self.precision: Matrix = np.empty((0, *shape))
        self.noise_var: Vector = np.empty(0)
        self.level_below = np.empty(0, np.int32)  # the children's row, or -1 at the leaves
        self.depth = 0  # levels of the deepest hierarchy
        self._rows: dict[bytes, int] = {}  # the root's row, by what a hierarchy assumes

    def adopt(self, hierarchy: GaussianHierarchy) -> int:
        """The level row of the root of this hierarchy or of its equal, added if it is new."""
        row = self._rows.get(_contents(hierarchy))
        return self._append(hierarchy) if row is None else row

    def _append(self, hierarchy: GaussianHierarchy) -> int:
        """The level row of this hierarchy's root, added to the tables."""
        if hierarchy.is_armed != self.is_armed or hierarchy.dim != self.dim:
            raise ValueError(f"prior must have the form of {self.hierarchies[0]}, got {hierarchy}")
        row = len(self.noise_var)
        self._rows.setdefault(_contents(hierarchy), row)  # files may hold equal ones
        factors = [square_root(cov) for cov in hierarchy.covs]
        precisions = [np.zeros_like(hierarchy.hyper_cov)]  # a root has no parent to look up to
        precisions += [inverse(cov) for cov in hierarchy.covs[1:]]
        levels = hierarchy.num_levels
        below = [*range(row + 1, row + levels), -1]
        self.hierarchies.append(hierarchy)
        self.prior_factor = np.concatenate([self.prior_factor, np.stack(factors)])
        self.precision = np.concatenate([self.precision, np.stack(precisions)])
        self.noise_var = np.append(self.noise_var, np.full(levels, hierarchy.noise_std**2))
        self.level_below = np.append(self.level_below, np.array(below, np.int32))
        self.depth = max(self.depth, levels)
        return row

    def plant(self, root_levels: Indices, means: Matrix, shape: Sequence[int]) -> None:
        """New trees with these roots, (trees,) and (trees, d), and `shape` children at each level.

        Leaves come first, tree by tree, then their parents, and the roots last.
        """
        num_trees = len(means)
        per_tree = np.cumprod([1, *shape])  # nodes at each depth
        widths = num_trees * per_tree
        starts = self.size + np.cumsum(widths[::-1])[::-1] - widths
        populations = self.num_populations + np.arange(num_trees)
        self._reserve(int(widths.sum()))
        parents = ~populations
        for depth, (start, width) in enumerate(zip(starts, widths, strict=True)):
            if depth > 0:
                parents = starts[depth - 1] + np.arange(width) // shape[depth - 1]
            levels = np.repeat(root_levels + depth, per_tree[depth])
            self._fill(slice(start, start + width), parents, levels)
        roots = np.arange(starts[0], starts[0] + num_trees)
        self.mean[roots] = means
        self.size += int(widths.sum())
        self.root = np.append(self.root, roots)

    def sprout(self, parent: int, count: int) -> Indices:
        """New children of a node; returns their ids."""
        parent = int(index_array("parent", [parent], self.size, "nodes")[0])
        count = checked_count("count", count)
        level = int(self.level_below[self.level[parent]])
        if level < 0:
            raise ValueError(f"parent must be above the level of tasks, got node {parent}, a task")
        self._reserve(count)
        new = slice(self.size, self.size + count)
        self._fill(new, np.full(count, parent), np.full(count, level))
        self.size = new.stop
        return np.arange(new.start, new.stop)

    def replant(self, roots: Indices, hierarchies: Sequence[GaussianHierarchy]) -> Indices:
        """Start two-level trees over with other hierarchies, one for each; returns their tasks."""
        tree = np.full(self.size, -1)
        tree[roots] = np.arange(roots.size)
        parent = self.parent[: self.size]
        tasks = np.flatnonzero((parent >= 0) & (tree[parent] >= 0))
        levels = np.array([self.adopt(hierarchy) for hierarchy in hierarchies])
        means = np.array([hierarchy.hyper_mean for hierarchy in hierarchies])
        for nodes, rows in ((roots, levels), (tasks, levels[tree[parent[tasks]]] + 1)):
            self.level[nodes], self.mean[nodes] = rows, 0.0
            self.factor[nodes] = self.prior_factor[rows]
        self.mean[roots] = means
        return tasks

    @property
    def num_populations(self) -> int:
        """The number of trees."""
        return len(self.root)

    @property
    def nbytes(self) -> int:
        """Bytes held for the nodes, spare room included."""
        return sum(getattr(self, name).nbytes for name in _NODE_ARRAYS)

    @property
    def arrays(self) -> tuple[Indices, Indices, Matrix, Matrix, Matrix]:
        """What kernels take, in their order."""
        return self.parent, self.level, self.precision, self.mean, self.factor

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

    def given_parent(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean part, covariance P and gain K = P Sigma^-1, given its parent."""
        factor = self.factor[node]
        looking_up = self.precision[self.level[node]]
        if self.is_armed:
            cov, looking_up = np.diag(factor**2), np.diag(looking_up)
        else:
            cov = factor @ factor.T
        return self.mean[node].copy(), cov, cov @ looking_up

    def marginal(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean, its own covariance and what it inherits; the two add up to its cov."""
        mean, within, gain = self.given_parent(node)
        parent = int(self.parent[node])
        if parent < 0:
            return mean, within, np.zeros_like(within)
        above, own, inherited = self.marginal(parent)
        return mean + gain @ above, within, gain @ (own + inherited) @ gain.T

    def copy(self) -> "Forest":
        """An independent forest of the same nodes; level tables are never written into."""
        twin = copy.copy(self)
        for name in _NODE_ARRAYS:
            setattr(twin, name, getattr(self, name)[: self.size].copy())
        twin.hierarchies, twin._rows = list(self.hierarchies), dict(self._rows)
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        meta = {"hierarchies": [hierarchy.to_dict() for hierarchy in self.hierarchies]}
        nodes = {name: getattr(self, name)[: self.size] for name in _NODE_ARRAYS}
        return meta, nodes | {name: getattr(self, name) for name in _LEVEL_ARRAYS}

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Forest":
        """The forest that `state` described, checked so that no kernel can go astray."""
        hierarchies = [GaussianHierarchy.from_dict(parts) for parts in meta["hierarchies"]]
        forest = cls(hierarchies[0])
        for hierarchy in hierarchies:
            forest._append(hierarchy)
        size = forest.size = len(arrays["parent"])
        levels = index_array("level", arrays["level"], len(forest.noise_var), "levels")
        forest.level = levels.astype(np.int32)
        forest.parent = np.array(arrays["parent"], np.int32)
        forest.mean = state_array("mean", arrays["mean"], (size, forest.dim))
        shape = forest.prior_factor.shape[1:]
        forest.factor = state_array("factor", arrays["factor"], (size, *shape))
        for name in _LEVEL_ARRAYS:  # as they were, to the bit
            table = getattr(forest, name)
            saved = state_array(name, arrays[name], table.shape)
            # Up to rounding, which differs from machine to machine and is relative to a matrix.
            if np.abs(saved - table).max() > 1e-6 * np.abs(table).max():
                raise ValueError(f"{name} does not follow from the hierarchies")
            setattr(forest, name, saved)
        roots = np.flatnonzero(forest.parent < 0)
        forest.root = roots[np.argsort(~forest.parent[roots])]
        if (~forest.parent[forest.root] != np.arange(roots.size)).any():
            raise ValueError("parent must number the populations from 0")
        below = np.flatnonzero(forest.parent >= 0)
        above = index_array("parent", forest.parent[below], size, "nodes")
        starts = np.cumsum([0, *(h.num_levels for h in hierarchies[:-1])])
        orphans = forest.level_below[forest.level[above]] != forest.level[below]
        if orphans.any() or not np.isin(forest.level[roots], starts).all():
            raise ValueError("parent and level do not agree")
        return forest

    def _reserve(self, count: int) -> None:
        self.parent = _room(self.parent, self.size, count)
        self.level = _room(self.level, self.size, count)
        self.mean = _room(self.mean, self.size, count)
        self.factor = _room(self.factor, self.size, count)

    def _fill(self, new: slice, parents: Indices, levels: Indices) -> None:
        self.parent[new] = parents
        self.level[new] = levels
        self.mean[new] = 0.0
        np.take(self.prior_factor, levels, axis=0, out=self.factor[new], mode="clip")


def _contents(hierarchy: GaussianHierarchy) -> bytes:
    """The same for equal hierarchies and different for others."""
    parts = hierarchy.hyper_mean, *hierarchy.covs, np.array(hierarchy.noise_std)
    form = repr(hierarchy.hyper_cov.shape).encode()
    return form + b"".join(part.tobytes() for part in parts)


def tree_shape(
    num_tasks: int | tuple[int, ...], priors: list[GaussianHierarchy]
) -> tuple[int, ...]:
    """The number of children at each level below the root, checked."""
    levels = priors[0].num_levels
    if any(prior.num_levels != levels for prior in priors):
        raise ValueError("prior must hold hierarchies of one depth; add_populations takes others")
    counts = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
    for number in counts:
        checked_count("num_tasks", number)
    if counts == (0,):
        return ()
    if len(counts) != levels - 1:
        raise ValueError(
            f"num_tasks must have one count for each of the {levels - 1} levels below the root, "
            f"got {num_tasks!r}"
        )
    return counts


def _room(array: NDArray[Any], used: int, count: int) -> NDArray[Any]:
    """`array` with space for `count` more rows after the first `used`; half as much again if full.

    The first allocation is exact, so tasks that are known up front waste nothing.
    """
    needed = used + count
    if needed <= len(array):
        return array
    capacity = needed if used == 0 else max(needed, used + used // 2)
    larger = np.empty((capacity, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
