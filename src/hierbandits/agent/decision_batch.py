"""A batch of decisions: a file of tasks in, a file of decisions out, exactly once."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierbandits.agent.agent import Agent
from hierbandits.agent.batch_table import check_place, read_table, write_new_table
from hierbandits.agent.batches import batch_ids, batch_key
from hierbandits.agent.ledger import Entry
from hierbandits.agent.task_rows import TaskRows
from hierbandits.logs.polars_import import polars_module
from hierbandits.reporting.progress import Progress, progress_bar

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("decision", "arm", "propensity", "decided_at")
"""What a file of decisions has beside the columns of its tasks."""

ROUND_ROWS = 10_000
"""The rows that are decided together, and share one draw of what tasks have in common."""


@dataclass(frozen=True, slots=True)
class DecidedBatch:
    """What became of a file of tasks."""

    key: str  # the ids of its decisions are KEY-0, KEY-1, ...
    decisions: int
    new_tasks: int  # tasks that the agent had not met before
    made_before: bool  # whether the agent had made these decisions in an earlier call
    written: bool  # whether this call wrote the file; False if it was there
    out: str


def decide_batch(
    agent: str | PathLike[str],
    tasks: Any,
    out: str | PathLike[str],
    *,
    task: str | Sequence[str] = "task",
    eligible: str | None = None,
    limits: Mapping[str, int] | None = None,
    progress: Progress = None,
) -> DecidedBatch:
    """Decide for every row of a table, save the agent to its file, and write the decisions.

    `agent` and `out` are files, `tasks` a file or a frame.  `task` names the column of tasks, or
    one column for each part of their paths, and `eligible` a column of the arms that a row may
    play: lists of names (a|b|c in a CSV file), or lists of lists of features.  Where the agent has
    an encoder, `tasks` has the columns of the context too.  `out` has the columns of `tasks` and
    COLUMNS.  `limits` are those of the agent's that change, for good.

    The same tasks for the same `out` are one batch, and its decisions are made once.  The agent is
    saved before `out` is written.  Where a call ends between the two, the next one writes what the
    first has decided.  A file that holds anything else is refused.
    """
    place = Path(out)
    check_place(place)
    frame, is_text = read_table("tasks", tasks)
    for name in COLUMNS:
        if name in frame.columns:
            raise ValueError(f"tasks must not have a column {name!r}, which out is to have")
    loaded = Agent.load(agent)
    if limits:
        loaded = Agent.load(agent, limits=replace(loaded._state.limits, **limits))
    state = loaded._state
    columns = [task] if isinstance(task, str) else list(task)
    rows = TaskRows.of(frame, state, columns, eligible, is_text=is_text)
    key = batch_key([os.path.realpath(place), *rows.described()])
    ids = batch_ids(key, frame.height)
    made_before, known_tasks = key in state.batches, len(state.roster)
    if place.exists():
        _check_same_batch(place, ids, made_before)
        return DecidedBatch(key, len(ids), 0, True, False, str(place))
    if not made_before:
        with progress_bar("Deciding", len(ids), progress) as steps:
            for start in range(0, len(ids), ROUND_ROWS):
                part = slice(start, start + ROUND_ROWS)
                offers = rows.offers(state.catalogue, part)
                made = loaded.decide_many(rows.tasks[part], offers, ids=ids[part])
                steps.advance(len(made))
        state.batches.add(key, len(ids))
        loaded.save(agent)
    entries = [state.ledger.pending.get(id) or state.ledger.settled.get(id) for id in ids]
    write_new_table(_with_decisions(frame, place, [*filter(None, entries)]), place)
    new_tasks = len(state.roster) - known_tasks
    return DecidedBatch(key, len(ids), new_tasks, made_before, True, str(place))


def _check_same_batch(out: Path, ids: list[str], made_before: bool) -> None:
    """Raise an error unless a file holds these decisions, and the agent has made them."""
    try:
        known = read_table("out", out)[0]["decision"].to_list()
    except (ValueError, polars_module().exceptions.PolarsError):
        known = []
    if known != ids:
        raise FileExistsError(
            f"out must be a new file, or hold the decisions for these tasks, got {str(out)!r}, "
            "which holds something else: give another name, or move it away"
        )
    if not made_before:
        raise ValueError(
            f"agent must know the decisions of {str(out)!r}, but has not made them: was it put "
            "back from an earlier file?  To decide anew, move the decisions away"
        )


def _with_decisions(frame: "pl.DataFrame", out: Path, entries: list[Entry]) -> "pl.DataFrame":
    """The tasks with the decisions made for them, in the order of rows."""
    pl = polars_module()
    if len(entries) < frame.height:
        raise ValueError(
            f"the {frame.height:,} decisions for {str(out)!r} were made before, but the agent has "
            f"forgotten {frame.height - len(entries):,} of them since: they cannot be written again"
        )
    is_text = any(isinstance(entry.arm, str) for entry in entries)
    times = [datetime.fromtimestamp(entry.time, UTC) for entry in entries]
    columns = [
        pl.Series("decision", [entry.id for entry in entries], pl.String),
        pl.Series("arm", [str(e.arm) if is_text else e.arm for e in entries]),
        pl.Series("propensity", [entry.propensity for entry in entries], pl.Float64),
        pl.Series("decided_at", times, pl.Datetime("us", "UTC")),
    ]
    if out.suffix.lower() == ".csv":  # whose cells hold no lists
        frame = frame.select(pl.exclude(pl.List, pl.Array))
    return frame.with_columns(columns)
