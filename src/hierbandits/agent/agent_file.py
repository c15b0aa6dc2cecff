"""Agents in files: all their state as JSON and arrays, from which they resume bit for bit."""

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Pending
from hierbandits.agent.roster import Roster
from hierbandits.archive import read_archive, write_archive
from hierbandits.beliefs.model_kinds import model_from_dict, model_to_dict
from hierbandits.checks import index_array
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.recipes import Recipe, name_of
from hierbandits.types import Indices

if TYPE_CHECKING:
    from hierbandits.agent.agent import Agent

_VERSION = 2


def write_agent(path: str | PathLike[str], agent: "Agent") -> None:
    """Write all state of an agent to one file."""
    belief_meta, arrays = agent.belief.state()
    pending = list(agent._ledger.pending.values())
    own = agent._catalogue.own
    meta = {
        "prior": model_to_dict(agent.prior),
        "policy": name_of(agent._recipe),
        "belief": belief_meta,
        "draws": agent._draws,
        "floor": agent._floor,
        "random": agent._rng.bit_generator.state,
        "arms": None if own is None else list(own.names),
        "tasks": agent._roster.state(),
        "pending": [
            {"id": d.id, "task": d.task, "arm": d.arm, "propensity": d.propensity, "time": time}
            for d, _, time in pending
        ],
        "settled": [[id, *settled] for id, settled in agent._ledger.settled.items()],
    }
    shape = (len(pending),) if agent.prior.is_armed else (len(pending), agent.prior.dim)
    features = np.array([decision.features for decision, _, _ in pending])
    arrays["pending"] = features.reshape(shape)
    if own is not None:
        arrays["arms"] = own.table
    if agent._policy.forced is not None:
        arrays["decided"] = agent._policy.forced.decided
    write_archive(path, "agent", _VERSION, meta, arrays)


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
    return make(prior, policy, arms=arms, draws=meta["draws"], floor=meta["floor"])


def _restore(agent: "Agent", meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Give a new agent all that the saved one had learned and decided."""
    belief = type(agent.belief).from_state(meta["belief"], arrays)
    agent._policy.belief = belief
    if agent._policy.forced is not None:
        agent._policy.forced = ForcedStart(_decided(arrays["decided"], belief.num_nodes))
    agent._rng.bit_generator.state = meta["random"]
    agent._roster = Roster.from_state(belief, agent.prior.num_levels - 1, meta["tasks"])
    features = belief.checked_features(arrays["pending"], len(meta["pending"]))
    features.flags.writeable = False
    for row, saved in enumerate(meta["pending"]):
        task = saved["task"]
        member = agent._roster.find(tuple(task) if isinstance(task, list) else task)
        own = int(features[row]) if agent.prior.is_armed else features[row]
        decision = Decision(saved["id"], member.task, saved["arm"], own, saved["propensity"])
        agent._ledger.pending[decision.id] = Pending(decision, member, saved["time"])
    for id, reward, time in meta["settled"]:
        agent._ledger.settled[id] = reward, time


def _decided(saved: NDArray[Any], num_nodes: int) -> Indices:
    """The number of decisions of each node, of nodes without any too."""
    decided = index_array("decided", saved, 2**31, "decisions")
    missing = max(0, num_nodes - decided.size)
    return np.append(decided, np.zeros(missing, np.intp)).astype(np.int32)
