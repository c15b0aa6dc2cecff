"""Agents in files: all their state as JSON and arrays, from which they resume bit for bit."""

from collections.abc import Callable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import task_name
from hierbandits.agent.ledger import Entry
from hierbandits.agent.roster import Roster
from hierbandits.archive import read_archive, write_archive
from hierbandits.beliefs.model_kinds import model_from_dict, model_to_dict
from hierbandits.checks import count, state_array
from hierbandits.policies.recipes import Recipe, name_of
from hierbandits.types import Name

if TYPE_CHECKING:
    from hierbandits.agent.agent import Agent

_VERSION = 2


def write_agent(path: str | PathLike[str], agent: "Agent") -> None:
    """Write all state of an agent to one file."""
    state, decider = agent._state, agent._decider
    belief_meta, arrays = state.belief.state()
    own, ledger = state.catalogue.own, state.ledger
    offers: dict[tuple[Name, ...], int] = {}  # many decisions have the same
    meta = {
        "prior": model_to_dict(state.prior),
        "policy": name_of(state.recipe),
        "belief": belief_meta,
        "draws": decider.draws,
        "floor": decider.floor,
        "random": decider.rng.bit_generator.state,
        "arms": list(state.catalogue.names) or (None if own is None else list(own.names)),
        "retired": sorted(state.catalogue.retired, key=str),
        "roster": state.roster.state(),
        "remember": ledger.remember,
        "num_added": ledger.num_added,
        "history": state.history,
        "num_events": state.num_events,
        "pending": [_parts(entry, offers) for entry in ledger.pending.values()],
        "settled": [_parts(entry, offers) for entry in ledger.settled.values()],
        "offers": list(offers),
    }
    shape = (-1,) if state.prior.is_armed else (-1, state.prior.dim)
    for name, entries in (("pending", ledger.pending), ("settled", ledger.settled)):
        features = np.array([entry.row for entry in entries.values()])
        arrays[name] = features.reshape(shape if entries else (0, *shape[1:]))
    if own is not None and not state.prior.is_armed:
        arrays["arms"] = own.table
    arrays["normals"] = decider.stock.left()
    arrays |= {
        f"sums.{name}": values for name, values in state.sums.state(len(state.roster)).items()
    }
    write_archive(path, "agent", _VERSION, meta, arrays)


def _parts(entry: Entry, offers: dict[tuple[Name, ...], int]) -> list[Any]:
    """A decision and its reward without its features; what was offered is a place in `offers`."""
    offer = offers.setdefault(entry.offered, len(offers))
    own = [entry.id, entry.member.task, entry.arm, entry.propensity, entry.time, offer]
    return [*own, entry.reward, entry.settled, entry.provisional, entry.place]


def read_agent(
    path: str | PathLike[str], policy: Recipe | None, make: "Callable[..., Agent]"
) -> "Agent":
    """The agent that `write_agent` wrote; `make` makes a new agent from an Agent's arguments.

    `policy` is the agent's recipe if it has no name.
    """
    meta, arrays = read_archive(path, "agent", _VERSION)
    name = meta.get("policy")
    if (name is None) == (policy is None):
        has = "a recipe of its own: give" if name is None else f"{name}: do not give"
        raise ValueError(f"{path} was saved with {has} policy")
    try:
        agent = _new_agent(meta, arrays, str(name) if policy is None else policy, make)
        _restore(agent, meta, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is not a sound agent file: {error}") from error
    return agent


def _new_agent(
    meta: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    policy: Recipe | str,
    make: "Callable[..., Agent]",
) -> "Agent":
    """An agent of the same arguments that has met no task yet."""
    prior = model_from_dict(meta["prior"])
    arms = meta["arms"]
    if arms is not None and not prior.is_armed:
        arms = dict(zip(arms, arrays["arms"], strict=True))
    return make(
        prior,
        policy,
        arms=arms,
        draws=meta["draws"],
        floor=meta["floor"],
        remember=meta["remember"],
    )


def _restore(agent: "Agent", meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Give a new agent all that the saved one had learned and decided."""
    state = agent._state
    belief = type(state.belief).from_state(meta["belief"], arrays)
    state.policy.belief = belief
    agent._decider.rng.bit_generator.state = meta["random"]
    agent._decider.stock.put(state_array("normals", arrays["normals"], (None,)))
    state.roster = Roster.from_state(belief, state.roster.path_length, meta["roster"])
    state.num_events, state.history = count("num_events", meta["num_events"]), meta["history"]
    if not isinstance(state.history, str):
        raise ValueError(f"history must be a string, got {state.history!r:.80}")
    for name in meta["retired"]:
        state.catalogue.retire(state.catalogue.offered_name(name))
    own = {name[5:]: values for name, values in arrays.items() if name.startswith("sums.")}
    state.sums.restore(own, len(state.roster))
    offers = [tuple(offer) for offer in meta["offers"]]
    for entry in _entries(state, meta["pending"], arrays["pending"], offers):
        state.ledger.pending[entry.id] = entry
    for entry in _entries(state, meta["settled"], arrays["settled"], offers):
        state.ledger.settled[entry.id] = entry
    state.ledger.num_added = count("num_added", meta["num_added"])
    state.count_decisions()


def _entries(
    state: AgentState,
    saved: list[list[Any]],
    features: NDArray[Any],
    offers: list[tuple[Name, ...]],
) -> Iterator[Entry]:
    """The decisions that `_parts` described, with their features."""
    rows = state.belief.checked_features(features, len(saved))
    for parts, row in zip(saved, rows, strict=True):
        id, task, arm, propensity, time, offer, *rest = parts
        member = state.roster.find(task_name(task))
        own = int(row) if state.prior.is_armed else row.copy()
        yield Entry(id, member, arm, own, propensity, time, offers[offer], *rest)
