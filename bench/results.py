"""One run of all benchmarks: its sizes and its figures."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bench.contest import Contest, contest
from bench.memory import MemoryUse, memory_use
from bench.scaling import (
    AgentCost,
    BatchedCost,
    HistoryCost,
    agent_cost,
    batched_cost,
    history_cost,
)
from bench.startup import Startup, startup

CONTEST_DIM = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is measured, and for how long."""

    dims: tuple[int, ...]
    few_tasks: int
    many_tasks: int
    agent_dims_at_many: tuple[int, ...]
    memory_dims: tuple[int, ...]
    memory_tasks: int
    early_events: int
    late_events: int
    times: int  # repetitions of each measurement, of which the best counts
    events: int  # of one batched repetition
    seconds: float  # of one repetition, one event at a time


FULL = Sizes(
    dims=(2, 8, 16, 32, 49, 64),
    few_tasks=1_000,
    many_tasks=100_000,
    agent_dims_at_many=(2, 16),
    memory_dims=(2, 16, 64),
    memory_tasks=20_000,
    early_events=50_000,
    late_events=2_000_000,
    times=10,
    events=10_000,
    seconds=0.3,
)
QUICK = Sizes(
    dims=(2, 16),
    few_tasks=100,
    many_tasks=1_000,
    agent_dims_at_many=(2,),
    memory_dims=(2, 16),
    memory_tasks=500,
    early_events=5_000,
    late_events=50_000,
    times=2,
    events=2_000,
    seconds=0.03,
)


@dataclass(frozen=True, slots=True)
class Results:
    """Every figure of one run."""

    sizes: Sizes
    batched: list[BatchedCost] = field(default_factory=list)
    agent: list[AgentCost] = field(default_factory=list)
    contest: list[Contest] = field(default_factory=list)
    history: list[HistoryCost] = field(default_factory=list)
    memory: list[MemoryUse] = field(default_factory=list)
    startup: list[Startup] = field(default_factory=list)


def measure(sizes: Sizes, say: Callable[[str], None]) -> Results:
    """Run everything, telling `say` what comes next."""
    results = Results(sizes)
    times, seconds = sizes.times, sizes.seconds
    for num_tasks in (sizes.few_tasks, sizes.many_tasks):
        for dim in sizes.dims:
            say(f"batched and the limit: d = {dim}, {num_tasks:,} tasks")
            results.batched.append(batched_cost(dim, num_tasks, times, sizes.events))
    few = [(dim, sizes.few_tasks) for dim in sizes.dims]
    for dim, num_tasks in [*few, *((dim, sizes.many_tasks) for dim in sizes.agent_dims_at_many)]:
        say(f"agent: d = {dim}, {num_tasks:,} tasks")
        results.agent.append(agent_cost(dim, num_tasks, times, seconds))
    say(f"peers: d = {CONTEST_DIM}, {sizes.few_tasks:,} tasks")
    rounds = sizes.events // 1000
    results.contest.append(contest(CONTEST_DIM, sizes.few_tasks, times, seconds, rounds))
    say(f"history: {sizes.late_events:,} events")
    early, late = sizes.early_events, sizes.late_events
    results.history.append(history_cost(CONTEST_DIM, sizes.few_tasks, early, late, times))
    for dim in sizes.memory_dims:
        say(f"memory: d = {dim}, growing to {sizes.memory_tasks:,} tasks")
        results.memory.append(memory_use(dim, sizes.memory_tasks))
    say("imports and compiling")
    results.startup.append(startup(min(times, 3)))
    return results
