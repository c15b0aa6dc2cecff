"""The distinct pairs of a task and its eligible arms.  A frozen policy is asked once for each.

Where rows have contexts, every row is asked about.
"""

from dataclasses import dataclass

import numpy as np

from hierbandits.logs import Rows
from hierbandits.types import Indices, Mask, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The distinct pairs of a task and its eligible arms among some rows."""

    tasks: Indices  # (pairs,)
    eligible: Mask  # (pairs, K)
    counts: Indices  # rows of each, (pairs,)
    place: Indices  # the pair of each row, (E,)
    cells: Matrix | None = None  # the context of each pair, as an encoder's cells

    @classmethod
    def of(cls, rows: Rows, num_arms: int) -> "Pairs":
        """The pairs of these rows."""
        if rows.cells is not None:
            every = np.ones((rows.size, num_arms), np.bool_)
            eligible = every if rows.eligible is None else rows.eligible
            counts, place = np.ones(rows.size, np.intp), np.arange(rows.size)
            return cls(rows.tasks, eligible, counts, place, rows.cells)
        if rows.eligible is None:
            tasks, place, counts = np.unique(rows.tasks, return_inverse=True, return_counts=True)
            return cls(tasks, np.ones((tasks.size, num_arms), np.bool_), counts, place)
        packed = np.packbits(rows.eligible, axis=1)
        number = rows.tasks.astype(np.int64)[:, None].view(np.uint8)
        keys = np.ascontiguousarray(np.concatenate([number, packed], axis=1))
        flat = keys.view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, place, counts = np.unique(
            flat, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(rows.tasks[first], rows.eligible[first], counts, place)
