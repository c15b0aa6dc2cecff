"""Cost per event by the number of features, the number of tasks and the length of the history."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bench.limit import Limit
from bench.one_by_one import OneByOne
from bench.ours import Batched, OurAgent
from bench.timing import best
from bench.workload import ROUND, Workload


@dataclass(frozen=True, slots=True)
class BatchedCost:
    """Microseconds per event of the batched calls, and the machine's limit in its parts."""

    dim: int
    num_tasks: int
    microseconds: float
    act_share: float
    sums: float
    memory: float
    normals: float
    gigaflops: float

    @property
    def limit(self) -> float:
        return self.sums + self.memory + self.normals

    @property
    def ratio(self) -> float:
        return self.microseconds / self.limit


def batched_cost(dim: int, num_tasks: int, times: int, events: int) -> BatchedCost:
    """The batched calls against the limit, interleaved, in repetitions of so many events."""
    workload = Workload.of(dim, num_tasks)
    batched, limit = Batched(workload), Limit(workload)
    rounds = max(1, events // ROUND)
    repetitions = {
        "microseconds": partial(batched.microseconds, rounds),
        "sums": limit.sums,
        "memory": partial(limit.memory, rounds),
        "normals": partial(limit.normals, rounds),
    }
    costs = best(repetitions, times)
    gigaflops = limit.flops / (1e3 * costs["sums"])
    return BatchedCost(dim, num_tasks, act_share=batched.act_share, gigaflops=gigaflops, **costs)


@dataclass(frozen=True, slots=True)
class AgentCost:
    """Microseconds per event of an agent, one event at a time."""

    dim: int
    num_tasks: int
    microseconds: float


def agent_cost(dim: int, num_tasks: int, times: int, seconds: float) -> AgentCost:
    """`decide` and `reward`, in repetitions of so many seconds."""
    workload = Workload.of(dim, num_tasks)
    loop = OneByOne(OurAgent(workload), workload)
    loop.microseconds(seconds)
    costs = best({"agent": partial(loop.microseconds, seconds)}, times)
    return AgentCost(dim, num_tasks, costs["agent"])


@dataclass(frozen=True, slots=True)
class HistoryCost:
    """Microseconds per event of the batched calls, early in a history and late."""

    early_events: int
    late_events: int
    early: float
    late: float

    @property
    def ratio(self) -> float:
        return self.late / self.early


def history_cost(dim: int, num_tasks: int, early: int, late: int, times: int) -> HistoryCost:
    """New policies in their first events, interleaved with one that has learned many."""
    workload = Workload.of(dim, num_tasks)
    old = Batched(workload)
    old.microseconds(late // ROUND)
    pieces = 5  # of each repetition, the best piece counts

    def quickest(batched: Batched) -> float:
        return min(batched.microseconds(early // ROUND // pieces) for _ in range(pieces))

    costs = best(
        {"early": lambda: quickest(Batched(workload)), "late": lambda: quickest(old)}, times
    )
    return HistoryCost(early, late, **costs)


def growth(costs: Sequence[BatchedCost] | Sequence[AgentCost]) -> dict[int, float]:
    """For each d measured with few and with many tasks, the cost with many over that with few."""
    by_dim: dict[int, list[tuple[int, float]]] = {}
    for cost in costs:
        by_dim.setdefault(cost.dim, []).append((cost.num_tasks, cost.microseconds))
    return {dim: max(pairs)[1] / min(pairs)[1] for dim, pairs in by_dim.items() if len(pairs) > 1}
