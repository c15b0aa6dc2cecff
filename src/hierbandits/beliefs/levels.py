"""What each level of each hierarchy assumes, in tables that kernels can look up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.algebra import inverse, square_root
from hierbandits.checks import count, state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Matrix, Vector

_SAVED = ("prior_factor", "precision")


class Levels:
    """Tables with one row for each hierarchy and level, a hierarchy's root first.

    Hierarchies can be added at any time; rows never change.
    """

    def __init__(self, hierarchy: GaussianHierarchy) -> None:
        shape = hierarchy.task_cov.shape
        self.dim = hierarchy.dim
        self.is_armed = hierarchy.is_armed
        self.hierarchies: list[GaussianHierarchy] = []
        self.prior_factor: Matrix = np.empty((0, *shape))  # a square root of Sigma
        self.precision: Matrix = np.empty((0, *shape))  # Sigma^-1, zero for a root
        self.noise_var: Vector = np.empty(0)
        self.below = np.empty(0, np.int32)  # the row of the level below, -1 below the tasks
        self.num_levels = 0  # the number of levels of the deepest hierarchy
        self._root_row: dict[bytes, int] = {}  # by what a hierarchy assumes

    def adopt(self, hierarchy: GaussianHierarchy) -> int:
        """The row of this hierarchy's root; equal hierarchies share their rows."""
        row = self._root_row.get(_contents(hierarchy))
        return self._append(hierarchy) if row is None else row

    def _append(self, hierarchy: GaussianHierarchy) -> int:
        if hierarchy.is_armed != self.is_armed or hierarchy.dim != self.dim:
            raise ValueError(f"prior must have the form of {self.hierarchies[0]}, got {hierarchy}")
        row = len(self.noise_var)
        self._root_row.setdefault(_contents(hierarchy), row)  # a file may hold equal ones
        factors = [square_root(cov) for cov in hierarchy.covs]
        precisions = [np.zeros_like(hierarchy.hyper_cov)]  # a root has no parent
        precisions += [inverse(cov) for cov in hierarchy.covs[1:]]
        levels = hierarchy.num_levels
        below = [*range(row + 1, row + levels), -1]
        self.hierarchies.append(hierarchy)
        self.prior_factor = np.concatenate([self.prior_factor, np.stack(factors)])
        self.precision = np.concatenate([self.precision, np.stack(precisions)])
        self.noise_var = np.append(self.noise_var, np.full(levels, hierarchy.noise_std**2))
        self.below = np.append(self.below, np.array(below, np.int32))
        self.num_levels = max(self.num_levels, levels)
        return row

    def root_rows(self) -> list[int]:
        """The row of each hierarchy's root."""
        sizes = [hierarchy.num_levels for hierarchy in self.hierarchies]
        return [sum(sizes[:place]) for place in range(len(sizes))]

    def copy(self) -> "Levels":
        """Independent tables; arrays are shared, since nobody writes into them."""
        twin = Levels.__new__(Levels)
        twin.__dict__.update(self.__dict__)
        twin.hierarchies, twin._root_row = list(self.hierarchies), dict(self._root_row)
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        meta = {"hierarchies": [hierarchy.to_dict() for hierarchy in self.hierarchies]}
        return meta, {name: getattr(self, name) for name in _SAVED}

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Levels":
        """The tables that `state` described, checked."""
        hierarchies = [GaussianHierarchy.from_dict(parts) for parts in meta["hierarchies"]]
        levels = cls(hierarchies[0])
        for hierarchy in hierarchies:
            levels._append(hierarchy)
        for name in _SAVED:  # as they were, to the bit
            table = getattr(levels, name)
            saved = state_array(name, arrays[name], table.shape)
            # Rounding differs from machine to machine, and is relative to a matrix.
            if np.abs(saved - table).max() > 1e-6 * np.abs(table).max():
                raise ValueError(f"{name} does not follow from the hierarchies")
            setattr(levels, name, saved)
        return levels


def _contents(hierarchy: GaussianHierarchy) -> bytes:
    """The same bytes for equal hierarchies, and other bytes for others."""
    parts = hierarchy.hyper_mean, *hierarchy.covs, np.array(hierarchy.noise_std)
    form = repr(hierarchy.hyper_cov.shape).encode()
    return form + b"".join(part.tobytes() for part in parts)


def children_per_level(
    num_tasks: int | tuple[int, ...], priors: Sequence[GaussianHierarchy]
) -> tuple[int, ...]:
    """The number of children at each level below the root, checked; () for roots alone."""
    levels = priors[0].num_levels
    if any(prior.num_levels != levels for prior in priors):
        raise ValueError("prior must hold hierarchies of one depth; add_populations takes others")
    counts = num_tasks if isinstance(num_tasks, tuple) else (num_tasks,)
    for number in counts:
        count("num_tasks", number)
    if counts == (0,):
        return ()
    if len(counts) != levels - 1:
        raise ValueError(
            f"num_tasks must have one count for each of the {levels - 1} levels below the root, "
            f"got {num_tasks!r}"
        )
    return counts
