"""The posteriors of all arms' hyper-parameters, on grids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.count_nodes import CountNodes
from hierbandits.checks import state_copy
from hierbandits.kernels.hyper_grid import STALE, GridArrays, fill_all_axes
from hierbandits.models.grid_hierarchy import GridHierarchy
from hierbandits.types import Indices, Matrix

EDGE = 0.3
"""How much further than its depth a grid reaches at first, in standard deviations."""


class HyperGrids:
    """A grid for each population and arm: see `kernels.hyper_grid` for what the arrays hold."""

    def __init__(self, prior: GridHierarchy, num_populations: int) -> None:
        n, shape = prior.resolution, (num_populations, prior.dim)
        self.kind, self.depth = prior.LIKELIHOOD, 4.0 + n / 2
        centre = np.log(prior.task_std), np.log(prior.task_factor)
        self.assumed: Matrix = np.stack([prior.hyper_mean, prior.hyper_std, *centre], axis=1)
        reach = np.sqrt(2 * self.depth) + EDGE
        one = np.empty((prior.dim, 4))
        for place in (0, 2):
            mean, std = self.assumed[:, place], self.assumed[:, place + 1]
            one[:, place], one[:, place + 1] = mean - reach * std, 2 * reach * std / (n - 1)
        self.boxes: Matrix = np.tile(one, (num_populations, 1, 1))
        self.logs: Matrix = np.zeros((*shape, n * n))
        self._begin(n)

    def _begin(self, n: int) -> None:
        """Make what follows from boxes and logs."""
        shape = self.boxes.shape[:2]
        self.axes: Matrix = np.empty((*shape, 2, n))
        self.weights: Matrix = np.empty((*shape, n * n))
        self.rows: Matrix = np.empty((*shape, n))
        self.marks: Indices = np.full(shape, STALE)
        fill_all_axes(self.boxes, self.axes)

    def arrays(self, nodes: CountNodes, evidence: Matrix) -> GridArrays:
        """All that kernels ask for."""
        return GridArrays(
            (
                nodes.forest.parent[: nodes.size],
                nodes.state,
                nodes.roots,
                evidence,
                self.assumed,
                self.boxes,
                self.axes,
                self.logs,
                self.weights,
                self.rows,
                self.marks,
            )
        )

    def put(self, populations: Indices, boxes: Matrix, logs: Matrix) -> None:
        """Give populations these boxes and log weights."""
        self.boxes[populations], self.logs[populations] = boxes, logs
        self.marks[:] = STALE
        fill_all_axes(self.boxes, self.axes)

    def copy(self) -> "HyperGrids":
        """Independent grids of the same state."""
        twin = HyperGrids.__new__(HyperGrids)
        twin.__dict__.update(self.__dict__)
        twin.boxes, twin.logs = self.boxes.copy(), self.logs.copy()
        twin._begin(self.axes.shape[3])
        return twin

    def saved(self) -> dict[str, NDArray[Any]]:
        """All state as arrays, without copies."""
        return {"boxes": self.boxes, "log_weights": self.logs}

    @classmethod
    def from_saved(
        cls, prior: GridHierarchy, arrays: dict[str, NDArray[Any]], num_populations: int
    ) -> "HyperGrids":
        """The grids that `saved` described, checked."""
        shape = (num_populations, prior.dim)
        boxes = state_copy("boxes", arrays["boxes"], (*shape, 4))
        logs = state_copy("log_weights", arrays["log_weights"], (*shape, prior.resolution**2))
        grids = cls(prior, num_populations)
        first = cls(prior, 1).boxes[0]
        far = np.abs(boxes[..., ::2]) > np.abs(first[:, ::2]) + 1e3 * first[:, 1::2]
        if far.any() or (boxes[..., 1::2] <= 0).any() or (boxes[..., 1::2] > 1e3).any():
            raise ValueError("boxes must be of grids of the prior")
        if (np.abs(logs.max(axis=2)) > 1e-6).any():
            raise ValueError("log_weights must have 0 for the highest of each grid")
        grids.boxes, grids.logs = boxes, logs
        grids.marks[:] = STALE
        fill_all_axes(grids.boxes, grids.axes)
        return grids
