"""What every node of a forest knows, in arrays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierbandits.algebra import squared, times, transposed
from hierbandits.beliefs.common_tasks import CommonTasks
from hierbandits.beliefs.forest import Forest, with_room
from hierbandits.beliefs.forms import Form
from hierbandits.beliefs.levels import Levels
from hierbandits.beliefs.reserved_rows import ReservedRows
from hierbandits.checks import count as checked_count
from hierbandits.checks import index_array, state_array, state_copy
from hierbandits.kernels.dense_gain import gains
from hierbandits.kernels.node_address import NodeAddress, address_table
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Matrix, Vector


class Nodes:
    """The state of a belief, in arrays with a block for each node or population.

    Given its parent's parameter and the data below it, a node has

        theta ~ N(T t + K theta_parent, T S S' T')        K = T S S' G

    with the T and G of its level; see `Levels`.  Its block of `state` holds S, and t in the last
    row.  A population's block of `roots` holds S and m of its root, theta ~ N(m, S S').  (The
    blocks of `state` that belong to roots are not used.)  Tasks whose arms have a part in common
    have blocks of another kind, O(K) numbers; see `kernels.common_part`.
    """

    def __init__(self, hierarchy: GaussianHierarchy, form: Form) -> None:
        self.levels = Levels(hierarchy, form)
        self.forest = Forest()
        self._room = ReservedRows()
        self.roots: Matrix = np.empty((0, *form.root_block(hierarchy.dim)))
        self._show(np.empty((0, *form.task_block(hierarchy.dim))))

    def _show(self, state: Matrix) -> None:
        """Let kernels see this state, and the other arrays as they are now.

        All at once: a kernel that is called after an interrupt must see the arrays that all others
        see, and no address of arrays that are gone.
        """
        forest, levels = self.forest, self.levels
        arrays = NodeArrays(
            (forest.parent, forest.level, levels.assumed, levels.maps, state, self.roots)
        )
        table = address_table(arrays)
        address = NodeAddress(table.ctypes.data)
        # How many normals a draw of a task may need.
        normals = levels.num_levels * self.num_normals
        self.state, self.arrays, self._addresses, self.address, self.path_normals = (
            state, arrays, table, address, normals,
        )  # fmt: skip

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """A copy or a pickle of nodes has arrays of its own, elsewhere."""
        self.__dict__.update(parts)
        self._show(self.state)

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
        return self.levels.form.is_armed

    @property
    def is_diagonal(self) -> bool:
        """Whether covariances are diagonals."""
        return self.levels.form.is_diagonal

    @property
    def num_normals(self) -> int:
        """How many normals a draw of a node takes."""
        return self.levels.form.num_normals(self.dim)

    @property
    def nbytes(self) -> int:
        """Bytes held, spare room included."""
        return self.forest.nbytes + self.state.nbytes + self.roots.nbytes

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
        with self._all_or_none():
            first = self.forest.num_populations
            if population is None:
                new = self.forest.plant(root_levels, children)
            else:
                new = self.forest.plant_tasks(root_levels, population)
            self.roots = with_room(self.roots, first, len(hyper_means))[: first + len(hyper_means)]
            self.put_roots(slice(first, None), hyper_means, self.levels.start[root_levels])
            self._start(new)

    def sprout(self, parent: int, count: int) -> Indices:
        """New children of a node; returns their ids."""
        parent = int(index_array("parent", [parent], self.size, "nodes")[0])
        count = checked_count("count", count)
        level = int(self.levels.below[self.forest.level[parent]])
        if level < 0:
            raise ValueError(f"parent must be above the level of tasks, got node {parent}, a task")
        new = self.forest.sprout(parent, level, count)
        self._start(new)
        self.forest.size = new.stop
        return np.arange(new.start, new.stop)

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        """Take new nodes back if an error comes, of memory say, before they have their blocks."""
        size, root = self.forest.size, self.forest.root
        try:
            yield
        except BaseException:
            self.forest.size, self.forest.root = size, root
            raise

    def _start(self, new: slice) -> None:
        """Let new nodes, the last of the forest, know nothing."""
        self._show(self._room.with_room(self.state, new.start, new.stop))
        self.forget(np.arange(new.start, new.stop))

    def forget(self, nodes: Indices) -> None:
        """Let nodes know nothing."""
        if self.levels.form.has_common_part:
            self.state[nodes] = 0.0
            self.state[nodes, 0] = 1.0
            return
        levels = self.forest.level[nodes]
        for level in np.unique(levels).tolist():
            self.put(nodes[levels == level], np.zeros(self.dim), self.levels.start[level])

    def put(self, nodes: Indices | slice, means: Matrix, factors: Matrix) -> None:
        """Give nodes these means t and factors S."""
        self.state[nodes, -1] = means
        self.state[nodes, 0 if self.is_diagonal else slice(-1)] = factors

    def put_roots(self, populations: Indices | slice, means: Matrix, factors: Matrix) -> None:
        """Give the roots of populations these means and factors."""
        self.roots[populations, -1] = means
        self.roots[populations, 0 if self.is_diagonal else slice(-1)] = factors

    def replant(self, populations: Indices, hierarchies: Sequence[GaussianHierarchy]) -> Indices:
        """Start trees of two levels over, each with another hierarchy; returns their tasks."""
        forest = self.forest
        roots = forest.root[populations]
        tree = np.full(self.size, -1)
        tree[roots] = np.arange(roots.size)
        parent = forest.parent[: self.size]
        tasks = np.flatnonzero((parent >= 0) & (tree[parent] >= 0))
        users = np.bincount(forest.level[forest.root]).tolist()
        levels = forest.level[roots]
        for place, hierarchy in enumerate(hierarchies):
            row = int(levels[place])
            if users[row] == 1:
                self.levels.replace(row, hierarchy)
            else:
                users[row] -= 1
                levels[place] = self.levels.append(hierarchy)
        self._show(self.state)  # kernels must have the rows before a node has their numbers
        forest.level[roots] = levels
        forest.level[tasks] = levels[tree[parent[tasks]]] + 1
        means = np.array([hierarchy.hyper_mean for hierarchy in hierarchies])
        self.put_roots(populations, means, self.levels.start[levels])
        self.forget(tasks)
        self._show(self.state)
        return tasks

    def replica(self, hierarchy: GaussianHierarchy) -> "Nodes":
        """Nodes of the same tree of two levels, under another hierarchy.

        The root knows nothing, and the tasks must be told so: see `forget`.
        """
        twin = Nodes(hierarchy, self.levels.form)
        twin.levels.append(hierarchy)
        twin.forest = self.forest.copy()
        twin.forest.level[:] = 1
        twin.forest.level[twin.forest.root] = 0
        twin.roots = np.empty_like(self.roots)
        twin.put_roots(slice(None), hierarchy.hyper_mean[None], twin.levels.start[:1])
        twin._show(twin._room.reserve(self.state, copied=False))
        twin.forget(twin.forest.root)  # blocks that nobody reads, but files hold them
        return twin

    def given_parents(self, nodes: Indices) -> tuple[Matrix, Matrix, Matrix]:
        """The mean parts T t of nodes below roots, their covariances and their gains K.

        Diagonals if covariances are.
        """
        maps = self.levels.maps[self.forest.level[nodes]]
        if self.levels.form.has_common_part:
            return CommonTasks.of(maps[:, 0], self.state[nodes]).given_parents()
        mean, factor, own = self.state[nodes, -1], self.state[nodes, :-1], maps[:, 0]
        if self.is_diagonal:
            gain = factor[:, 0] ** 2
            return own * mean, own**2 * gain, gain
        cov = squared(factor, diagonal=False)
        return times(own, mean), own @ cov @ transposed(own), gains(own, cov, maps[:, 1])

    def root_moments(self, populations: Indices | slice) -> tuple[Matrix, Matrix]:
        """The means and the covariances of populations' root parameters, or diagonals."""
        blocks = self.roots[populations]
        factor = blocks[:, 0] if self.is_diagonal else blocks[:, :-1]
        return blocks[:, -1].copy(), squared(factor, diagonal=self.is_diagonal)

    def given_parent(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean part, its covariance and its gain, given its parent; zero for a root."""
        parent = int(self.forest.parent[node])
        if parent >= 0:
            mean, cov, gain = (part[0] for part in self.given_parents(np.array([node])))
        else:
            mean, cov = (part[0] for part in self.root_moments(np.array([~parent])))
            gain = np.zeros_like(cov)
        return (mean, np.diag(cov), np.diag(gain)) if self.is_diagonal else (mean, cov, gain)

    def marginal(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        """A node's mean, its own covariance and the one it inherits; they add up to its cov."""
        mean, within, gain = self.given_parent(node)
        parent = int(self.forest.parent[node])
        if parent < 0:
            return mean, within, np.zeros_like(within)
        above, own, inherited = self.marginal(parent)
        return mean + gain @ above, within, gain @ (own + inherited) @ gain.T

    def copy(self) -> Self:
        """An independent state of the same nodes."""
        twin = object.__new__(type(self))
        twin.levels, twin.forest = self.levels.copy(), self.forest.copy()
        twin._room, twin.roots = ReservedRows(), self.roots.copy()
        twin._show(self.state[: self.size].copy())
        return twin

    def saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        meta, tables = self.levels.state()
        trees = self.forest.num_populations
        own = {"state": self.state[: self.size], "roots": self.roots[:trees]}
        return meta, self.forest.state() | own | tables

    @classmethod
    def from_saved(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The nodes that `saved` described, checked."""
        nodes = cls.__new__(cls)
        nodes.levels = Levels.from_state(meta, arrays)
        nodes.forest = Forest.from_state(arrays, nodes.levels)
        form, trees = nodes.levels.form, nodes.forest.num_populations
        shape = (nodes.size, *form.task_block(nodes.dim))
        nodes._room = ReservedRows()
        nodes.roots = state_copy("roots", arrays["roots"], (trees, *form.root_block(nodes.dim)))
        nodes._show(nodes._room.reserve(state_array("state", arrays["state"], shape)))
        return nodes
