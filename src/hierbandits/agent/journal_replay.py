"""Events of a journal, applied to the state of an agent."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import Decision, task_name
from hierbandits.agent.journal import Event
from hierbandits.agent.ledger import Entry
from hierbandits.agent.step import Step
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array
from hierbandits.types import Indices, Matrix, Name


def replay_events(state: AgentState, events: Iterable[Event], *, adopt: bool = False) -> None:
    """Apply the events that come after those that the state has seen, without a gap.

    They must be of the state's own history, or, with `adopt`, their history becomes the state's.
    """
    last: int | None = None
    for event in events:
        if last is None and adopt:
            state.history = event["history"]
        if event["history"] != state.history:
            raise ValueError(
                f"events must be of the agent's own history, {state.history}, got event "
                f"{event['number']} of {event['history']}, another agent's"
            )
        number = event["number"]
        if last is not None and number != last + 1:
            raise ValueError(f"events must follow each other, got event {number} after {last}")
        last = number
        if number < state.num_events:
            continue
        if number > state.num_events:
            raise ValueError(
                f"events must go on where the agent stands, with event {state.num_events}, "
                f"got event {number}"
            )
        try:
            _APPLY[event["kind"]](state, event).run()
        except (KeyError, TypeError, ValueError, LookupError) as error:
            raise ValueError(f"event {number} does not fit this agent: {error!r}") from error
    state.count_decisions()


def _decide(state: AgentState, event: Event) -> Step:
    decisions = [Decision.from_dict(parts) for parts in event["decisions"]]
    state.ledger.new_ids([decision.id for decision in decisions], len(decisions))
    table = _features(state, [d.arm for d in decisions], [d.features for d in decisions])
    paths = [state.roster.checked_path(decision.task) for decision in decisions]
    entries = []
    for decision, path, row in zip(decisions, paths, table, strict=True):
        id, _, arm, _, propensity, time, offered = decision
        # A copy, so that the others of the round are not kept for its sake.
        own = int(row) if state.prior.is_armed else row.copy()
        member = state.roster.meet(path)
        entries.append(Entry(id, member, arm, own, propensity, time, offered))
    return state.decide(entries, event["time"], best=event["best"])


def _features(state: AgentState, arms: list[Name], features: Any) -> Matrix | Indices:
    """Features as a belief takes them; arms count by their names, whatever their order was."""
    if state.prior.is_armed:
        return state.catalogue.places_of(arms)
    return state.belief.checked_features(
        np.reshape(features, (len(arms), state.prior.dim)), len(arms)
    )


def _reward(state: AgentState, event: Event) -> Step:
    entries = state.ledger.awaiting_many(event["ids"], event["values"])
    new = [(e, r) for e, r in zip(entries, event["values"], strict=True) if e is not None]
    return state.reward([entry for entry, _ in new], [reward for _, reward in new], event["time"])


def _correct(state: AgentState, event: Event) -> Step:
    return state.correct(state.ledger.known(event["id"]), event["value"], event["time"])


def _expire(state: AgentState, event: Event) -> Step:
    pending = state.ledger.pending_before(event["before"])
    if event["default"] is None:
        settled = state.ledger.settled_before(event["before"])
        return state.drop([*pending, *settled], event["time"])
    return state.default(pending, event["default"], event["time"])


def _learn(state: AgentState, event: Event) -> Step:
    paths = [state.roster.checked_path(task_name(task)) for task in event["tasks"]]
    given = event["arms"]
    table = _features(state, [0] * len(paths) if given is None else given, event["features"])
    rewards = real_array("rewards", event["rewards"], (len(paths),))
    return state.learn(paths, table, rewards, event["time"])


def _learn_past(state: AgentState, event: Event) -> Step:
    paths = [state.roster.checked_path(task_name(task)) for task in event["tasks"]]
    sums = TaskSums(*(np.array(event["sums"][name], float) for name in ("xx", "xy", "yy", "n")))
    if event["arms"] is not None:
        sums = sums.with_arms_at(state.catalogue.indices_of(event["arms"]), state.prior.dim)
    state.belief.check_past(len(paths), sums)
    return state.learn_past(paths, sums, event["time"])


def _forget(state: AgentState, event: Event) -> Step:
    return state.forget(task_name(event["task"]), event["time"])


def _add_arm(state: AgentState, event: Event) -> Step:
    name = state.catalogue.new_name(event["name"])
    prior = state.prior.with_arm(name, event["hyper_mean"], event["hyper_std"], event["task_std"])
    return state.add_arm(name, prior, state.recipe(prior), event["time"])


def _retire_arm(state: AgentState, event: Event) -> Step:
    return state.retire_arm(state.catalogue.offered_name(event["name"]), event["time"])


_APPLY: dict[str, Callable[[AgentState, Event], Step]] = {
    "decide": _decide,
    "reward": _reward,
    "correct": _correct,
    "expire": _expire,
    "learn": _learn,
    "learn_past": _learn_past,
    "forget": _forget,
    "add_arm": _add_arm,
    "retire_arm": _retire_arm,
}
