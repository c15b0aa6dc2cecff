"""What a policy pays to learn the widths: at first, and later, when looks at them are rare."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bench.ours import Batched
from bench.timing import best
from bench.workload import ROUND, Workload


@dataclass(frozen=True, slots=True)
class AdaptiveCost:
    """Microseconds per event of HierTS, and of AdaptiveHierTS over its first events and later."""

    dim: int
    num_tasks: int
    events: int
    known: float  # HierTS, which knows the widths
    first: float
    later: float

    @property
    def ratio(self) -> float:
        return self.later / self.known


def adaptive_costs(
    dims: Sequence[int], num_tasks: int, events: int, times: int, seconds: float
) -> list[AdaptiveCost]:
    """Time the batched calls of both for each d; the first `events` count as first."""
    return [_cost(dim, num_tasks, events, times, seconds) for dim in dims]


def _cost(dim: int, num_tasks: int, events: int, times: int, seconds: float) -> AdaptiveCost:
    workload = Workload.of(dim, num_tasks)
    known, later = Batched(workload), Batched(workload, "AdaptiveHierTS")
    first = sum(later.step() for _ in range(events // ROUND)) * 1e6 / events
    least = best(
        {
            "known": partial(known.microseconds, seconds),
            "later": partial(later.microseconds, seconds),
        },
        times,
    )
    return AdaptiveCost(
        dim,
        num_tasks,
        events,
        first=first,
        **least,
    )
