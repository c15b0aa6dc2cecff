"""Cost per event by the number of features, the number of tasks and the length of the history."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bench.limit import Limit
from bench.one_by_one import OneByOne
from bench.ours import Batched, OurAgent
from bench.timing import Repetition, best
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


def batched_costs(
    dim: int, numbers_of_tasks: Sequence[int], times: int, seconds: float
) -> list[BatchedCost]:
    """The batched calls and the limit for each number of tasks, all of them interleaved."""
    workloads = [Workload.of(dim, num_tasks) for num_tasks in numbers_of_tasks]
    runs = [(Batched(workload), Limit(workload)) for workload in workloads]
    repetitions: dict[tuple[int, str], Repetition] = {}
    for place, (batched, limit) in enumerate(runs):
        repetitions |= {
            (place, "microseconds"): partial(batched.microseconds, seconds),
            (place, "sums"): limit.sums,
            (place, "memory"): partial(limit.memory, seconds),
            (place, "normals"): partial(limit.normals, seconds),
        }
    least = best(repetitions, times)
    return [
        BatchedCost(
            dim,
            workload.num_tasks,
            act_share=batched.act_share,
            gigaflops=limit.flops / (1e3 * least[place, "sums"]),
            **{part: cost for (where, part), cost in least.items() if where == place},
        )
        for place, (workload, (batched, limit)) in enumerate(zip(workloads, runs, strict=True))
    ]


@dataclass(frozen=True, slots=True)
class AgentCost:
    """Microseconds per event of an agent, one event at a time."""

    dim: int
    num_tasks: int
    microseconds: float


def agent_costs(sizes: Sequence[tuple[int, int]], times: int, seconds: float) -> list[AgentCost]:
    """`decide` and `reward` for each (d, tasks), all interleaved, each for so many seconds."""
    repetitions: dict[tuple[int, int], Repetition] = {}
    for size in sizes:
        workload = Workload.of(*size)
        loop = OneByOne(OurAgent(workload), workload)
        repetitions[size] = partial(loop.microseconds, seconds)
    least = best(repetitions, times)
    return [AgentCost(*size, least[size]) for size in sizes]


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
    for _ in range(late // ROUND):
        old.step()
    costs = best(
        {
            "early": lambda: _fastest_round(Batched(workload), early // ROUND),
            "late": lambda: _fastest_round(old, early // ROUND),
        },
        times,
    )
    return HistoryCost(early, late, **costs)


def _fastest_round(batched: Batched, num_rounds: int) -> float:
    """Microseconds per event of the quickest of the next rounds."""
    return min(batched.step() for _ in range(num_rounds)) * 1e6 / ROUND


def growth(costs: Sequence[BatchedCost] | Sequence[AgentCost]) -> dict[int, float]:
    """For each d measured with few and with many tasks, the cost with many over that with few."""
    by_dim: dict[int, list[tuple[int, float]]] = {}
    for cost in costs:
        by_dim.setdefault(cost.dim, []).append((cost.num_tasks, cost.microseconds))
    return {dim: max(pairs)[1] / min(pairs)[1] for dim, pairs in by_dim.items() if len(pairs) > 1}
