"""Events of a journal, applied to the state of an agent."""

from collections.abc import Callable, Iterable
from typing import Any

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import Decision, task_name
from hierbandits.agent.journal import Event
from hierbandits.agent.ledger import Entry
from hierbandits.agent.recalled_entry import belief_rows, recalled_entry
from hierbandits.agent.step import Step
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import boolean, instance, real_array, state_array
from hierbandits.types import Name


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
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            raise ValueError(f"event {number} does not fit this agent: {error!r}") from error
    state.count_decisions()


def _decide(state: AgentState, event: Event) -> Step:
    best, now = boolean("best", event["best"]), _time(event)
    decisions = [Decision.from_dict(parts) for parts in _list(event, "decisions")]
    state.ledger.new_ids([decision.id for decision in decisions], len(decisions))
    table = belief_rows(state, [d.arm for d in decisions], [d.features for d in decisions])
    entries = []
    members = state.roster.meet_all(_paths(state, [d.task for d in decisions]))
    for decision, member, row in zip(decisions, members, table, strict=True):
        id, _, arm, _, propensity, time, offered = decision
        if time != now:
            raise ValueError(f"time must be that of the event, {now}, in a decision, got {time}")
        # A copy, so that the others of the round are not kept for its sake.
        own = int(row) if state.prior.is_armed else row.copy()
        entries.append(Entry(id, member, arm, own, propensity, time, offered))
    return state.decide(entries, now, best=best)


def _list(event: Event, name: str) -> list[Any]:
    """A part of an event that is a list."""
    return instance(name, event[name], list)


def _time(event: Event) -> float:
    """When an event happened, by the agent's clock."""
    return float(state_array("time", event["time"], ()))


def _number(event: Event, name: str) -> float | None:
    """A part of an event that is a number, or None."""
    return None if event[name] is None else float(real_array(name, event[name], ()))


def _paths(state: AgentState, tasks: Iterable[Any]) -> list[tuple[Name, ...]]:
    """The paths of these tasks, for which there is room."""
    paths = [state.roster.checked_path(task_name(task)) for task in tasks]
    state.roster.check_room(paths)
    return paths


def _reward(state: AgentState, event: Event) -> Step:
    ids = _list(event, "ids")
    values = real_array("values", event["values"], (len(ids),)).tolist()
    entries = state.ledger.awaiting_many(ids, values)
    new = [(e, r) for e, r in zip(entries, values, strict=True) if e is not None]
    return state.reward([entry for entry, _ in new], [reward for _, reward in new], _time(event))


def _correct(state: AgentState, event: Event) -> Step:
    value, id = float(real_array("value", event["value"], ())), event["id"]
    if "decision" in event and id not in state.ledger.settled:
        forgotten = Decision.from_dict(event["decision"]), event["was"]
        entry = recalled_entry(state, id, forgotten)
    else:
        entry = state.ledger.known(id)
    return state.correct(entry, value, _time(event))


def _expire(state: AgentState, event: Event) -> Step:
    before, default, now = (
        float(state_array("before", event["before"], ())),
        _number(event, "default"),
        _time(event),
    )
    pending = state.ledger.pending_before(before)
    if [entry.id for entry in pending] != event["ids"]:
        raise ValueError(f"ids must be of the decisions before that time, got {event['ids']!r:.80}")
    if default is None:
        return state.drop([*pending, *state.ledger.settled_before(before)], now)
    return state.default(pending, default, now)


def _learn(state: AgentState, event: Event) -> Step:
    paths, given, now = _paths(state, _list(event, "tasks")), event["arms"], _time(event)
    table = belief_rows(state, [0] * len(paths) if given is None else given, event["features"])
    if len(table) != len(paths):
        raise ValueError(f"arms must be one for each of {len(paths)} tasks, got {len(table)}")
    rewards = real_array("rewards", event["rewards"], (len(paths),))
    return state.learn(paths, table, rewards, now)


def _learn_past(state: AgentState, event: Event) -> Step:
    paths, given, now = _paths(state, _list(event, "tasks")), event["arms"], _time(event)
    if len(set(paths)) < len(paths):
        raise ValueError(f"tasks must be different, got {event['tasks']!r:.80}")
    armed = state.prior.is_armed
    dim = state.prior.dim if given is None else len(_list(event, "arms"))
    sums = TaskSums.from_state(event["sums"], dim, armed=armed)
    if given is not None:
        sums = sums.with_arms_at(state.catalogue.indices_of(given), state.prior.dim)
    state.belief.check_past(len(paths), sums)
    return state.learn_past(paths, sums, now)


def _forget(state: AgentState, event: Event) -> Step:
    return state.forget(task_name(event["task"]), _time(event))


def _add_arm(state: AgentState, event: Event) -> Step:
    name, now = state.catalogue.new_name(event["name"]), _time(event)
    state.check_more_arms()
    widths = [_number(event, part) for part in ("hyper_mean", "hyper_std", "task_std")]
    prior = state.prior.with_arm(name, *widths)
    return state.add_arm(name, prior, state.recipe(prior), now)


def _retire_arm(state: AgentState, event: Event) -> Step:
    return state.retire_arm(state.catalogue.offered_name(event["name"]), _time(event))


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
