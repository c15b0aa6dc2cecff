"""A log of past decisions, learned by the state of an agent."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.ledger import Entry
from hierbandits.agent.roster import Member
from hierbandits.logs.batch import Batch
from hierbandits.logs.log import Log
from hierbandits.types import Name, TaskName


def arms_of(log: Log) -> tuple[Name, ...] | None:
    """The arms of a log, those that occur if they were not given; None if it has features."""
    if log.encoder is not None:
        return None
    if log.arms is not None or log.columns.arm is None:
        return log.arms
    for batch in log.batches():
        names = batch.names.arms
    return tuple(names)


def check_no_journal(journal: object) -> None:
    """Raise an error if a journal is given to an agent that is to learn a log."""
    if journal is not None:
        raise ValueError(
            "journal must not be given with a Log, whose rows it would not hold: save the agent, "
            "and load it with a journal"
        )


def replay_log(state: AgentState, log: Log, now: float) -> None:
    """Learn all rows, and remember their decisions, if they have ids, as settled.

    The log that the prior was learned from is refused, and so is that of a start.
    """
    if log.encoder != state.catalogue.encoder:
        raise ValueError(
            f"log must be read with the agent's encoder, {state.catalogue.encoder!r:.200}, got "
            f"{log.encoder!r:.200}: hb.Log.read(..., encoder=agent.encoder)"
        )
    known = state.totals()
    if state.belief.learned_from or known.n.any():
        totals = log.sums().sums.totals()
        state.belief.check_new_log(totals)
        if totals.same_log(known.totals()):
            raise ValueError(
                f"log must not be the start's own, {totals.n:g} rows, which would count twice"
            )
    for batch in log.batches():
        if batch.is_armed != state.prior.is_armed:
            form = "arms" if state.prior.is_armed else "features"
            raise ValueError(f"log must have {form}, as the prior has, got {log.columns}")
        path_of = {task: _path(state, batch, task) for task in np.unique(batch.tasks).tolist()}
        table: Any = batch.features
        if state.prior.is_armed:
            table = state.catalogue.places_of(batch.names.arms)[batch.features]
        try:
            table = state.belief.checked_features(table, batch.num_rows)
        except ValueError as error:
            raise ValueError(f"log must have features that the prior can take: {error}") from error
        paths = [path_of[task] for task in batch.tasks.tolist()]
        state.learn(paths, table, batch.rewards, None).run()
        member_of = {task: state.roster.meet(path) for task, path in path_of.items()}
        _remember(state, batch, table, member_of, now)
    state.count_decisions()


def _path(state: AgentState, batch: Batch, task: int) -> tuple[Name, ...]:
    """The path of a task: its name, JSON of the path, or a population and its task."""
    name: TaskName = batch.names.tasks[task]
    if state.roster.path_length > 1:
        if isinstance(name, str) and name.startswith("["):
            try:
                name = tuple(json.loads(name))
            except (ValueError, RecursionError):
                raise ValueError(f"task must be a path as JSON, got {name!r:.80}") from None
        else:
            name = batch.names.populations[batch.names.population[task]], batch.names.tasks[task]
    return state.roster.checked_path(name)


def _remember(
    state: AgentState,
    batch: Batch,
    table: NDArray[Any],
    member_of: dict[int, Member],
    now: float,
) -> None:
    """Count the decisions of a batch, and settle those that have ids."""
    if batch.decisions is None:
        for task in batch.tasks.tolist():
            member_of[task].decisions += 1
        return
    armed, names = batch.is_armed, batch.names.arms
    times = _seconds(batch.times, batch.num_rows, now)
    played = None if batch.arms is None else batch.arms.tolist()
    offered = (0,) if played is None else tuple(names)  # an arm without a name is 0
    for e, task in enumerate(batch.tasks.tolist()):
        if batch.eligible is not None:
            offered = tuple(names[place] for place in np.flatnonzero(batch.eligible[e]).tolist())
        entry = Entry(
            str(batch.decisions[e]),
            member_of[task],
            0 if played is None else names[played[e]],
            int(table[e]) if armed else table[e].copy(),
            None if batch.propensities is None else float(batch.propensities[e]),
            times[e],
            offered,
        )
        state.ledger.add(entry)
        # Rows may be in any order: where time seems to go back, none has passed.
        latest = max(times[e], state.ledger.latest)
        state.ledger.settle([entry], [float(batch.rewards[e])], latest)
        state.ledger.tick(latest)


def _seconds(times: NDArray[Any] | None, num_rows: int, now: float) -> list[float]:
    """Times as an agent's clock tells them: numbers as they are, dates since 1970, or now."""
    if times is None or times.dtype.kind not in "iufM":
        return [now] * num_rows
    if times.dtype.kind == "M":
        times = (times - np.datetime64(0, "s")) / np.timedelta64(1, "s")
    seconds: list[float] = np.asarray(times, float).tolist()
    return seconds
