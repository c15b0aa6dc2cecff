"""The posteriors of all arms' hyper-parameters, on grids."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.count_nodes import CountNodes
from hierbandits.checks import state_copy
from hierbandits.kernels.hyper_grid import STALE, GridArrays, fill_all_cells
from hierbandits.models.grid_hierarchy import GridHierarchy
from hierbandits.types import Indices, Matrix, Vector

EDGE = 0.3
"""How much further than its depth a grid reaches at first, in standard deviations."""

_FAR = 1e3  # no range of x or of l goes further


class HyperGrids:
    """A grid for each population and arm: see `kernels.hyper_grid` for what the arrays hold."""

    def __init__(self, prior: GridHierarchy, num_populations: int) -> None:
        n = prior.resolution
        self.kind, self.depth = prior.LIKELIHOOD, 4.0 + n / 2
        widths = np.log(prior.task_std), np.log(prior.task_factor)
        self.assumed: Matrix = np.stack([prior.hyper_mean, prior.hyper_std, *widths], axis=1)
        reach = np.sqrt(2 * self.depth) + EDGE
        one = np.empty((prior.dim, n + 1, 2))
        for rows, place in ((slice(n), 0), (slice(n, None), 2)):
            mean, std = self.assumed[:, place, None], self.assumed[:, place + 1, None]
            one[:, rows, 0], one[:, rows, 1] = mean - reach * std, 2 * reach * std / (n - 1)
        self._hold(np.tile(one, (num_populations, 1, 1, 1)), None)

    def _hold(self, ranges: Matrix, logs: Matrix | None) -> None:
        """Have these ranges and log weights, and what follows from them."""
        shape, n = ranges.shape[:2], ranges.shape[2] - 1
        self.ranges = ranges
        self.logs: Matrix = np.zeros((*shape, n * n)) if logs is None else logs
        self.precisions: Matrix = np.empty((*shape, n))
        self.ups: Matrix = np.empty((*shape, n * n))
        self.weights: Matrix = np.empty((*shape, n * n))
        self.marks: Indices = np.full(shape, STALE)
        fill_all_cells(self.ranges, self.precisions, self.ups)

    def arrays(self, nodes: CountNodes, evidence: Matrix) -> GridArrays:
        """All that kernels ask for."""
        return GridArrays(
            (
                nodes.forest.parent[: nodes.size],
                nodes.state,
                nodes.roots,
                evidence,
                self.assumed,
                self.ranges,
                self.precisions,
                self.ups,
                self.logs,
                self.weights,
                self.marks,
            )
        )

    def cells(self, population: int, arm: int) -> tuple[Vector, Vector, Vector]:
        """e^x of each cell of an arm's grid, 1 / t^2, and its weight, once that is not stale."""
        precisions = self.precisions[population, arm]
        each = np.repeat(precisions, precisions.size)
        return self.ups[population, arm].copy(), each, self.weights[population, arm].copy()

    def put(self, populations: Indices, ranges: Matrix, logs: Matrix) -> None:
        """Give populations these ranges and log weights."""
        self.ranges[populations], self.logs[populations] = ranges, logs
        self.marks[:] = STALE
        fill_all_cells(self.ranges, self.precisions, self.ups)

    def copy(self) -> "HyperGrids":
        """Independent grids of the same state."""
        twin = HyperGrids.__new__(HyperGrids)
        twin.__dict__.update(self.__dict__)
        twin._hold(self.ranges.copy(), self.logs.copy())
        return twin

    def saved(self) -> dict[str, NDArray[Any]]:
        """All state as arrays, without copies."""
        return {"ranges": self.ranges, "log_weights": self.logs}

    @classmethod
    def from_saved(
        cls, prior: GridHierarchy, arrays: dict[str, NDArray[Any]], num_populations: int
    ) -> "HyperGrids":
        """The grids that `saved` described, checked."""
        shape, n = (num_populations, prior.dim), prior.resolution
        ranges = state_copy("ranges", arrays["ranges"], (*shape, n + 1, 2))
        logs = state_copy("log_weights", arrays["log_weights"], (*shape, n**2))
        first, last = ranges[..., 0], ranges[..., 0] + (n - 1) * ranges[..., 1]
        if (ranges[..., 1] <= 0).any() or (np.abs([first, last]) > _FAR).any():
            raise ValueError(f"ranges must be those of grids of {prior}")
        if logs.size and np.abs(logs.max(axis=2)).max() > 0:
            raise ValueError("log_weights must be 0 at the highest of each grid")
        grids = cls(prior, 0)
        grids._hold(ranges, logs)
        return grids
