"""A log of past decisions, learned by the state of an agent."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Entry
from hierbandits.logs.batch import Batch
from hierbandits.logs.log import Log
from hierbandits.types import Name, TaskName


def arms_of(log: Log) -> tuple[Name, ...] | None:
    """The arms of a log, those that occur if they were not given; None if it has features."""
    if log.arms is not None or log.columns.arm is None:
        return log.arms
    for batch in log.batches():
        names = batch.names.arms
    return tuple(names)


def replay_log(state: AgentState, log: Log, now: float) -> None:
    """Learn all rows, and remember their decisions, if they have ids, as settled."""
    for batch in log.batches():
        paths = [
            state.roster.checked_path(_task(state, batch, task)) for task in batch.tasks.tolist()
        ]
        if batch.is_armed != state.prior.is_armed:
            form = "arms" if state.prior.is_armed else "features"
            raise ValueError(f"log must have {form}, as the prior has, got {log.columns}")
        table: Any = batch.features
        if state.prior.is_armed:
            table = state.catalogue.places_of(batch.names.arms)[batch.features]
        table = state.belief.checked_features(table, batch.num_rows)
        state.learn(paths, table, batch.rewards)
        _remember(state, batch, table, now)
    state.count_decisions()


def _task(state: AgentState, batch: Batch, task: int) -> TaskName:
    """The name of a task; a path is JSON, or a population and its task."""
    name = batch.names.tasks[task]
    if state.roster.path_length == 1:
        return name
    if isinstance(name, str) and name.startswith("["):
        try:
            return tuple(json.loads(name))
        except (ValueError, TypeError):
            raise ValueError(f"task must be a path as JSON, got {name!r:.80}") from None
    return batch.names.populations[batch.names.population[task]], name


def _remember(state: AgentState, batch: Batch, table: NDArray[Any], now: float) -> None:
    """Enter the decisions of a batch into the ledger."""
    names, times = batch.names.arms, _seconds(batch.times, batch.num_rows, now)
    everything = tuple(names) if batch.is_armed else (0,)
    members = list(state.roster)
    by_task = {member.task: member for member in members}
    for e, task in enumerate(batch.tasks.tolist()):
        path = state.roster.checked_path(_task(state, batch, task))
        member = by_task[path[0] if len(path) == 1 else path]
        if batch.decisions is None:
            member.decisions += 1
            continue
        offered = everything
        if batch.eligible is not None:
            offered = tuple(names[place] for place in np.flatnonzero(batch.eligible[e]).tolist())
        decision = Decision(
            str(batch.decisions[e]),
            member.task,
            names[int(batch.features[e])] if batch.is_armed else 0,
            int(table[e]) if batch.is_armed else tuple(table[e].tolist()),
            None if batch.propensities is None else float(batch.propensities[e]),
            times[e],
            offered,
        )
        entry = Entry(decision, member, int(table[e]) if batch.is_armed else table[e])
        state.ledger.add(entry)
        state.ledger.settle(entry, float(batch.rewards[e]), times[e])


def _seconds(times: NDArray[Any] | None, num_rows: int, now: float) -> list[float]:
    """Times as an agent's clock tells them: numbers as they are, dates since 1970, or now."""
    if times is None or times.dtype.kind not in "iufM":
        return [now] * num_rows
    if times.dtype.kind == "M":
        times = (times - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    seconds: list[float] = np.asarray(times, float).tolist()
    return seconds
