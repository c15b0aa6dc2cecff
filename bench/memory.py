"""Bytes held for each task, over those of the numbers that it must keep."""

from dataclasses import dataclass

import hierbandits as hb
from bench.workload import Workload


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes per node as multiples of 8 (d^2 + d): known up front, and at worst while growing."""

    dim: int
    up_front: float
    growing: float


def memory_use(dim: int, num_tasks: int) -> MemoryUse:
    """A belief made with all tasks at once, and one that meets them one at a time."""
    prior = Workload.of(dim, 1).prior
    up_front = _multiple(hb.Belief(prior, num_tasks=num_tasks))
    belief = hb.Belief(prior)
    root = int(belief.roots[0])
    growing = 0.0
    for _ in range(num_tasks):
        belief.add(root, 1)
        growing = max(growing, _multiple(belief))
    return MemoryUse(dim, up_front, growing)


def _multiple(belief: hb.Belief) -> float:
    return belief.nbytes / (belief.num_nodes * 8 * (belief.dim**2 + belief.dim))
