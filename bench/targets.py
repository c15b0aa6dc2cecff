"""What the package promises of its speed and size, judged by a run's figures."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.contest import AGENT, BATCHED, NUMPY_TS
from bench.mixed import CASES
from bench.results import Results
from bench.scaling import growth


@dataclass(frozen=True, slots=True)
class Target:
    """A promise, the figure that it is judged by and whether that keeps it."""

    promise: str
    bound: float
    figure: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.figure >= self.bound if self.at_least else self.figure <= self.bound


def targets(results: Results) -> list[Target]:
    """Every promise that the run has figures for."""
    return list(_targets(results))


def _targets(results: Results) -> Iterator[Target]:
    sizes, contest = results.sizes, results.contest
    many = f"{sizes.many_tasks:,}"
    for cost in results.batched:
        if cost.dim < 16 or cost.num_tasks == sizes.many_tasks:
            promise = f"batched over the limit, d = {cost.dim}, {cost.num_tasks:,} tasks"
            yield Target(promise, 7.0 if cost.dim == 2 else 3.0, cost.ratio)
    if contest.rival is not None:
        for ours, least in ((BATCHED, 150.0), (AGENT, 10.0)):
            ratio = contest.ratio(ours, contest.rival)
            yield Target(f"{ours}, times as fast as {contest.rival}", least, ratio, at_least=True)
    for theirs in contest.events_per_second:
        if theirs == NUMPY_TS or theirs.endswith(" inner"):
            ratio, least = contest.ratio(AGENT, theirs), 1.5 if theirs == NUMPY_TS else 2.0
            yield Target(f"{AGENT}, times as fast as {theirs}", least, ratio, at_least=True)
    for name, costs in (("batched", growth(results.batched)), ("agent", growth(results.agent))):
        for dim, ratio in costs.items():
            promise = f"{name}, {many} tasks over {sizes.few_tasks:,}, d = {dim}"
            yield Target(promise, 3.0, ratio)
    for use in results.memory:
        yield Target(f"memory for each node, known up front, d = {use.dim}", 1.2, use.up_front)
        yield Target(f"memory for each node, while growing, d = {use.dim}", 2.0, use.growing)
    study = results.study
    yield Target(
        "a simulated run, times as fast as plain numpy's", 100.0, study.ratio, at_least=True
    )
    if study.figure_runs == 1_000:
        yield Target("`reproduce synthetic`, 1,000 runs, seconds", 60.0, study.figure_seconds)
    for adaptive in results.adaptive:
        if adaptive.events >= 50_000:
            promise = f"widths unknown, later, over HierTS, d = {adaptive.dim}"
            yield Target(promise, 3.0, adaptive.ratio)
    for mixed in results.mixed:
        if mixed.num_tasks >= 1_000:
            promise = f"learning widths, times as fast as MixedLM, {CASES[mixed.dim]}"
            yield Target(promise, 20.0, mixed.ratio, at_least=True)
    learning = results.learning
    log = f"a prior from {learning.rows:,} rows, {learning.num_tasks:,} tasks, d = {learning.dim}"
    yield Target(f"{log}, seconds", 60.0, learning.seconds)
    yield Target(f"{log}, peak memory in GB", 2.0, learning.peak_gigabytes)
    late = f"batched after {results.history.late_events:,} events over the first"
    yield Target(late, 1.3, results.history.ratio)
