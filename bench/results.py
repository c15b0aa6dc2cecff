"""One run of all benchmarks: its sizes and its figures."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from bench.adaptive import AdaptiveCost, adaptive_costs
from bench.contest import Contest, contest
from bench.learning import LearningCost, learning_cost
from bench.long_calls import LongCalls, long_calls
from bench.memory import MemoryUse, memory_use
from bench.mixed import MixedCost, mixed_costs
from bench.scaling import (
    AgentCost,
    BatchedCost,
    HistoryCost,
    agent_costs,
    batched_costs,
    history_cost,
)
from bench.startup import Startup, startup
from bench.studies import StudyCost, study_cost

CONTEST_DIM = 16
LOG_DIM = 8


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
    seconds: float  # of one repetition
    study_runs: int
    figure_runs: int
    mixed_tasks: int
    log_rows: int
    log_tasks: int


FULL = Sizes(
    dims=(2, 8, 16, 32, 49, 64),
    few_tasks=1_000,
    many_tasks=100_000,
    agent_dims_at_many=(2, 16),
    memory_dims=(2, 16, 64),
    memory_tasks=20_000,
    early_events=50_000,
    late_events=2_000_000,
    times=100,
    seconds=0.02,
    study_runs=200,
    figure_runs=1_000,
    mixed_tasks=1_000,
    log_rows=10_000_000,
    log_tasks=10_000,
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
    times=1,
    seconds=0.005,
    study_runs=20,
    figure_runs=4,
    mixed_tasks=50,
    log_rows=100_000,
    log_tasks=500,
)


@dataclass(frozen=True, slots=True)
class Results:
    """Every figure of one run."""

    sizes: Sizes
    batched: list[BatchedCost]
    agent: list[AgentCost]
    contest: Contest
    history: HistoryCost
    memory: list[MemoryUse]
    startup: Startup
    study: StudyCost
    adaptive: list[AdaptiveCost]
    long_calls: LongCalls
    mixed: list[MixedCost]
    learning: LearningCost


def measure(sizes: Sizes, say: Callable[[str], None]) -> Results:
    """Run everything, telling `say` what comes next."""
    return Results(
        sizes,
        batched=_batched(sizes, say),
        agent=_agent(sizes, say),
        contest=_contest(sizes, say),
        history=_history(sizes, say),
        memory=_memory(sizes, say),
        startup=_startup(sizes, say),
        study=_study(sizes, say),
        adaptive=_adaptive(sizes, say),
        long_calls=_long_calls(sizes, say),
        mixed=_mixed(sizes, say),
        learning=_learning(sizes, say),
    )


def _batched(sizes: Sizes, say: Callable[[str], None]) -> list[BatchedCost]:
    costs = []
    few_and_many = (sizes.few_tasks, sizes.many_tasks)
    for dim in sizes.dims:
        say(f"batched and the limit: d = {dim}")
        costs += batched_costs(dim, few_and_many, sizes.times, sizes.seconds)
    return costs


def _agent(sizes: Sizes, say: Callable[[str], None]) -> list[AgentCost]:
    say("agent")
    few = product(sizes.dims, [sizes.few_tasks])
    many = product(sizes.agent_dims_at_many, [sizes.many_tasks])
    return agent_costs(sorted([*few, *many]), sizes.times, sizes.seconds)


def _contest(sizes: Sizes, say: Callable[[str], None]) -> Contest:
    say(f"peers: d = {CONTEST_DIM}, {sizes.few_tasks:,} tasks")
    return contest(CONTEST_DIM, sizes.few_tasks, sizes.times, sizes.seconds)


def _history(sizes: Sizes, say: Callable[[str], None]) -> HistoryCost:
    say(f"history: d = {CONTEST_DIM}, {sizes.late_events:,} events")
    return history_cost(
        CONTEST_DIM, sizes.few_tasks, sizes.early_events, sizes.late_events, min(sizes.times, 10)
    )


def _memory(sizes: Sizes, say: Callable[[str], None]) -> list[MemoryUse]:
    uses = []
    for dim in sizes.memory_dims:
        say(f"memory: d = {dim}, growing to {sizes.memory_tasks:,} tasks")
        uses.append(memory_use(dim, sizes.memory_tasks))
    return uses


def _startup(sizes: Sizes, say: Callable[[str], None]) -> Startup:
    say("imports and compiling")
    return startup(min(sizes.times, 3))


def _study(sizes: Sizes, say: Callable[[str], None]) -> StudyCost:
    say(f"studies: {sizes.figure_runs:,} runs of the paper's figure")
    return study_cost(sizes.study_runs, min(sizes.times, 20), sizes.figure_runs)


def _mixed(sizes: Sizes, say: Callable[[str], None]) -> list[MixedCost]:
    say(f"widths beside MixedLM: {sizes.mixed_tasks:,} tasks")
    return mixed_costs(sizes.mixed_tasks, min(sizes.times, 5))


def _learning(sizes: Sizes, say: Callable[[str], None]) -> LearningCost:
    say(f"a prior from {sizes.log_rows:,} rows of Parquet")
    return learning_cost(sizes.log_rows, sizes.log_tasks, LOG_DIM)


def _adaptive(sizes: Sizes, say: Callable[[str], None]) -> list[AdaptiveCost]:
    say("widths unknown")
    dims = [dim for dim in sizes.dims if dim <= CONTEST_DIM]
    return adaptive_costs(
        dims, sizes.few_tasks, sizes.early_events, min(sizes.times, 20), sizes.seconds
    )


def _long_calls(sizes: Sizes, say: Callable[[str], None]) -> LongCalls:
    say("the longest call with widths unknown")
    return long_calls(sizes.memory_tasks, 5 * sizes.memory_tasks)
