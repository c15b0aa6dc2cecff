"""A run's figures as tables, for the terminal and for Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table as RichTable

from bench.contest import AGENT, BATCHED, Contest
from bench.mixed import CASES
from bench.results import Results
from bench.scaling import AgentCost, BatchedCost
from bench.targets import targets


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a title; columns are numbers unless their name is in `words`."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] = ()

    def rich(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left")
        for column in self.columns:
            table.add_column(column, justify="left" if column in self.words else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        rule = [":---" if column in self.words else "---:" for column in self.columns]
        return "\n".join(f"| {' | '.join(row)} |" for row in (self.columns, rule, *self.rows))


def all_tables(results: Results) -> list[Table]:
    """Every table, in the order they are printed."""
    return [
        batched_table(results.batched),
        agent_table(results.agent),
        contest_table(results.contest),
        history_table(results),
        memory_table(results),
        startup_table(results),
        study_table(results),
        adaptive_table(results),
        mixed_table(results),
        learning_table(results),
        targets_table(results),
    ]


def targets_table(results: Results) -> Table:
    """Every promise and whether it is kept."""
    rows = [
        [
            target.promise,
            f"{'≥' if target.at_least else '≤'} {target.bound:g}",
            f"{target.figure:,.2f}",
            "met" if target.met else "not met",
        ]
        for target in targets(results)
    ]
    return Table("Targets", ["target", "bound", "measured", "verdict"], rows, ["target", "verdict"])


def batched_table(costs: Sequence[BatchedCost]) -> Table:
    """Microseconds per event, and the parts of the limit."""
    columns = ["d", "tasks", "µs/event", "act", "sums", "memory", "normals", "limit", "× limit"]
    rows = [
        [
            f"{cost.dim}",
            f"{cost.num_tasks:,}",
            f"{cost.microseconds:.2f}",
            f"{cost.act_share:.0%}",
            f"{cost.sums:.2f}",
            f"{cost.memory:.2f}",
            f"{cost.normals:.2f}",
            f"{cost.limit:.2f}",
            f"{cost.ratio:.2f}",
        ]
        for cost in costs
    ]
    return Table("Batched, and the machine's limit", columns, rows)


def agent_table(costs: Sequence[AgentCost]) -> Table:
    """Cost per event of an agent."""
    rows = [
        [
            f"{cost.dim}",
            f"{cost.num_tasks:,}",
            f"{cost.microseconds:.1f}",
            f"{1e6 / cost.microseconds:,.0f}",
        ]
        for cost in costs
    ]
    return Table("Agent, one event at a time", ["d", "tasks", "µs/event", "events/s"], rows)


def contest_table(contest: Contest) -> Table:
    """Everyone's speed, and how many times as fast ours is."""
    columns = ["learner", "events/s", "batched is", "agent is", "how"]
    rows = [
        [
            name,
            f"{speed:,.0f}",
            _times(contest.ratio(BATCHED, name)),
            _times(contest.ratio(AGENT, name)),
            contest.notes[name],
        ]
        for name, speed in contest.events_per_second.items()
    ]
    rows += [[name, "missing", "", "", why] for name, why in contest.missing.items()]
    return Table("Peers", columns, rows, ["learner", "how"])


def history_table(results: Results) -> Table:
    """Cost per event, early and late."""
    history = results.history
    rows = [
        [f"in the first {history.early_events:,} events", f"{history.early:.2f}"],
        [f"after {history.late_events:,} events", f"{history.late:.2f}"],
    ]
    return Table("Length of the history", ["when", "µs/event"], rows, ["when"])


def memory_table(results: Results) -> Table:
    """Bytes per node, as multiples of the least."""
    columns = ["d", "known up front", "growing, worst", "one task and its root"]
    rows = [
        [f"{use.dim}", f"{use.up_front:.3f}", f"{use.growing:.3f}", f"{use.lone_task:.3f}"]
        for use in results.memory
    ]
    return Table("Memory, over 8 (d² + d) bytes", columns, rows)


def startup_table(results: Results) -> Table:
    """Seconds that a new process pays."""
    seconds = results.startup
    rows = [
        ["import numba", f"{seconds.import_numba:.2f}"],
        ["import hierbandits, numba included", f"{seconds.import_hierbandits:.2f}"],
        ["first decision and reward, nothing compiled yet", f"{seconds.first_use_compiling:.2f}"],
        ["first decision and reward, compiled earlier", f"{seconds.first_use_cached:.2f}"],
    ]
    return Table("A new process", ["what", "seconds"], rows, ["what"])


def study_table(results: Results) -> Table:
    """The paper's problem, one run, and its whole figure."""
    study = results.study
    regrets = [f"{m:.1f} ± {e:.1f}" for m, e in zip(study.regrets, study.errors, strict=True)]
    rows = [
        ["HierTS by `simulate`, one thread", f"{study.ours:.2f}", regrets[0]],
        ["HierTS in plain numpy", f"{study.plain:,.1f}", regrets[1]],
        ["the same with Cholesky draws", f"{study.tuned:,.1f}", ""],
    ]
    return Table("A run of the paper's problem", ["what", "ms/run", "regret"], rows, ["what"])


def adaptive_table(results: Results) -> Table:
    """AdaptiveHierTS beside HierTS."""
    first = results.adaptive[0]
    rows = [
        [
            str(cost.dim),
            f"{cost.known:.2f}",
            f"{cost.first:.2f}",
            f"{cost.later:.2f}",
            f"{cost.ratio:.1f}",
        ]
        for cost in results.adaptive
    ]
    columns = ("d", "HierTS, µs", "first, µs", "later, µs", "later / HierTS")
    return Table(f"Widths unknown, {first.num_tasks:,} tasks", columns, rows)


def mixed_table(results: Results) -> Table:
    """Seconds of a fit, ours and MixedLM's."""
    columns = ["model", "tasks", "ours, s", "MixedLM, s", "ours is", "log evidence", "apart"]
    rows = [
        [
            CASES[cost.dim],
            f"{cost.num_tasks:,}",
            f"{cost.ours:.3f}",
            f"{cost.theirs:.2f}",
            _times(cost.ratio),
            f"{cost.evidence_difference:+.1e}",
            f"{cost.apart:.0e}",
        ]
        for cost in results.mixed
    ]
    return Table("Widths, beside MixedLM", columns, rows, ["model"])


def learning_table(results: Results) -> Table:
    """Time and memory of learning from a large log."""
    columns = ["rows", "tasks", "d", "file, GB", "seconds", "peak memory, GB", "width error"]
    cost = results.learning
    row = [
        f"{cost.rows:,}",
        f"{cost.num_tasks:,}",
        f"{cost.dim}",
        f"{cost.file_gigabytes:.2f}",
        f"{cost.seconds:.1f}",
        f"{cost.peak_gigabytes:.2f}",
        f"{cost.error:.1%}",
    ]
    return Table("A prior from a large log", columns, [row])


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"
