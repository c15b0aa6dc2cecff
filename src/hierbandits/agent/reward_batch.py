"""A batch of rewards: a file of decision ids and values in, each learned exactly once."""

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.agent.agent import Agent
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.batch_table import column_of, read_table
from hierbandits.agent.decision import RewardConflict, UnknownDecision
from hierbandits.logs.cells import as_names
from hierbandits.logs.numbers import as_numbers
from hierbandits.logs.polars_import import polars_module
from hierbandits.reporting.progress import Progress, progress_bar

if TYPE_CHECKING:
    import polars as pl

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardedBatch:
    """What became of a file of rewards: the number of its rows of each kind, and of decisions."""

    rows: int
    learned: int = 0
    replaced: int = 0  # of those learned: rewards that took the place of a default
    repeated: int = 0  # the same reward came before, in this file or an earlier one: skipped
    forgotten: int = 0  # of decisions that expired, or were settled long ago: skipped
    unknown: int = 0  # of decisions that this agent has never made: skipped if asked, or refused
    missing: int = 0  # the cell of the reward is empty: skipped
    expired: int = 0  # decisions that this call gave up waiting for
    pending: int = 0  # decisions that still await their reward


def reward_batch(
    agent: str | PathLike[str],
    rewards: Any,
    *,
    decision: str = "decision",
    reward: str = "reward",
    skip_unknown: bool = False,
    expire_days: float | None = None,
    default: float | None = None,
    progress: Progress = None,
) -> RewardedBatch:
    """Learn the rewards of a table, and save the agent to its file, once and only if all is well.

    `decision` and `reward` name the columns of `rewards`, a file or a frame.  A reward that came
    before is not learned again, whatever file it is in.  A second value for one decision is
    refused, and so is a decision that the agent has never made, unless `skip_unknown` is true:
    then nothing is learned from the whole file.

    With `expire_days` the agent then gives up waiting for decisions that are older.  They get the
    `default` as their reward until their own comes; without one they are forgotten.
    """
    if default is not None and expire_days is None:
        raise ValueError(f"default must come with expire_days, got {default!r} alone")
    frame, is_text = read_table("rewards", rewards)
    ids, values, missing = _rows(frame, decision, reward, is_text=is_text)
    loaded = Agent.load(agent)
    state = loaded._state
    with progress_bar("Learning rewards", None, progress):
        new, counts = _sorted_out(state, ids, values)
        if counts["unknown"] and not skip_unknown:
            strange = next(id for id in ids if _is_unknown(state, id))
            raise UnknownDecision(
                f"rewards must be of decisions that this agent has made, got {strange!r:.80} and "
                f"{counts['unknown'] - 1:,} more ({counts['learned']:,} others are new): is it the "
                "right agent?  Or skip them"
            )
        if new:
            loaded.reward_many(list(new), list(new.values()))
        expired = [] if expire_days is None else loaded.expire(expire_days * _DAY, default)
        if new or expired:
            loaded.save(agent)
    return RewardedBatch(
        rows=frame.height,
        missing=missing,
        expired=len(expired),
        pending=len(state.ledger.pending),
        **counts,
    )


def _rows(
    frame: "pl.DataFrame", decision: str, reward: str, *, is_text: bool
) -> tuple[list[str], list[float], int]:
    """The ids and the values of the rows that have one, and how many have none."""
    cells = column_of("reward", frame, reward)
    empty = cells.is_null()
    if cells.dtype.is_float():
        empty |= cells.is_nan().fill_null(False)
    rows = np.flatnonzero(~empty.to_numpy())
    ids = as_names("decision", column_of("decision", frame, decision).gather(rows), rows)
    values = as_numbers("reward", cells.gather(rows), rows, "." if is_text else None)
    return ids.cast(polars_module().String).to_list(), values.tolist(), int(empty.sum())


def _sorted_out(
    state: AgentState, ids: list[str], values: list[float]
) -> tuple[dict[str, float], dict[str, int]]:
    """The rewards that are new, by id, and how many rows there are of each kind."""
    new: dict[str, float] = {}
    kinds = ("learned", "replaced", "repeated", "forgotten", "unknown")
    counts = dict.fromkeys(kinds, 0)
    for id, value in zip(ids, values, strict=True):
        settled = state.ledger.settled.get(id)
        before = new.get(id)
        if settled is not None and not settled.provisional:
            before = settled.reward
        if before is not None:
            if before != value:
                raise RewardConflict(
                    f"rewards must not change: decision {id!r:.80} has the reward {before}, got "
                    f"{value}; `Agent.correct` replaces one"
                )
            counts["repeated"] += 1
        elif settled is not None or id in state.ledger.pending:
            new[id] = value
            counts["learned"] += 1
            counts["replaced"] += settled is not None
        else:
            counts["unknown" if _is_unknown(state, id) else "forgotten"] += 1
    return new, counts


def _is_unknown(state: AgentState, id: str) -> bool:
    """Whether the agent has never made this decision, as far as it can tell."""
    ledger = state.ledger
    return not (id in ledger.pending or id in ledger.settled or state.batches.has_made(id))
