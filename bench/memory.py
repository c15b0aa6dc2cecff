"""Bytes held for each task, over those of the numbers that it must keep."""

from dataclasses import dataclass

import hierbandits as hb
from bench.workload import Workload


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes as multiples of 8 (d^2 + d): for each node, and for a single task with its root."""

    dim: int
    up_front: float  # for each node, all tasks known at once
    growing: float  # for each node, at worst while tasks come one at a time
    lone_task: float  # all that is held when there is one task


def memory_use(dim: int, num_tasks: int) -> MemoryUse:
    """A belief made with all tasks at once, and one that meets them one at a time."""
    prior = Workload.of(dim, 1).prior
    up_front = _multiple(hb.Belief(prior, num_tasks=num_tasks))
    belief = hb.Belief(prior)
    root = int(belief.roots[0])
    belief.add(root, 1)
    growing = _multiple(belief)
    lone_task = growing * belief.num_nodes
    for _ in range(num_tasks - 1):
        belief.add(root, 1)
        growing = max(growing, _multiple(belief))
    return MemoryUse(dim, up_front, growing, lone_task)


def _multiple(belief: hb.Belief) -> float:
    return belief.nbytes / (belief.num_nodes * 8 * (belief.dim**2 + belief.dim))
