"""What the machine needs at the least for the sums, the memory and the normals of one event."""

import time
from collections.abc import Callable

import numpy as np

from bench.workload import NUM_ARMS, ROUND, Indices, Matrix, Vector, Workload
from hierbandits.compiler import compiled

_IN_CACHE = 1024  # floats: 8 kB, a part of the smallest first-level cache
_STEPS = 16
_PASSES = 100


@compiled
def multiply_add(values: Vector, factor: float, term: float, passes: int) -> None:
    """Independent chains of multiply-adds, a chain of _STEPS for each value and pass."""
    for _ in range(passes):
        for i in range(values.size):
            value = values[i]
            for _ in range(_STEPS):
                value = value * factor + term
            values[i] = value


@compiled
def touch(blocks: Matrix, order: Indices, term: float) -> None:
    """Read and write whole blocks, in the order given."""
    for e in range(order.size):
        block = order[e]
        for i in range(blocks.shape[1]):
            blocks[block, i] += term


class Limit:
    """Microseconds per event that a perfect program would need, in three parts that add up.

    Sums: the 22 d^2 + 2 K d floating-point operations of one decision and one update, at the rate
    of multiply-adds in the first-level cache.  Memory: one read and write of a random task's d^2
    numbers, in a table as large as all tasks'.  Normals: d standard normals.
    """

    def __init__(self, workload: Workload) -> None:
        self.dim = workload.dim
        self.values = np.ones(_IN_CACHE)
        self.blocks = np.ones((workload.num_tasks, self.dim**2))  # written, so truly in memory
        self.rounds = workload.rounds()
        self.rng = np.random.default_rng(0)

    @property
    def flops(self) -> int:
        """Floating-point operations per event."""
        return 22 * self.dim**2 + 2 * NUM_ARMS * self.dim

    def sums(self) -> float:
        start = time.perf_counter()
        multiply_add(self.values, 0.5, 0.5, _PASSES)
        seconds = time.perf_counter() - start
        return 1e6 * seconds * self.flops / (2 * _STEPS * _PASSES * _IN_CACHE)

    def memory(self, seconds: float) -> float:
        return self._per_event(lambda: touch(self.blocks, next(self.rounds)[0], 1e-9), seconds)

    def normals(self, seconds: float) -> float:
        return self._per_event(lambda: self.rng.standard_normal((ROUND, self.dim)), seconds)

    def _per_event(self, step: Callable[[], object], seconds: float) -> float:
        """Microseconds per event of rounds that take `seconds`, after one that warms up."""
        step()
        rounds = 0
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            step()
            rounds += 1
        return 1e6 * elapsed / (rounds * ROUND)
