"""Agents in files: all their state as JSON and arrays, from which they resume bit for bit."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent.journal import LONGEST_HISTORY
from hierbandits.agent.roster import Roster
from hierbandits.agent.saved_entries import entries_to_data, restore_entries
from hierbandits.archive import sound
from hierbandits.beliefs.model_kinds import model_from_dict, model_to_dict
from hierbandits.beliefs.same_model import check_same_model
from hierbandits.checks import LARGEST, checked_names, count, real_array
from hierbandits.file_marks import FileMarks
from hierbandits.logs.encoder import Encoder
from hierbandits.logs.limits import Limits
from hierbandits.logs.start import Start
from hierbandits.policies.recipes import Recipe, name_of

if TYPE_CHECKING:
    from hierbandits.agent.agent import Agent

_VERSION = 2
_MOST_DRAWS = 10**6
_FURTHEST = 40.0  # no standard normal is larger


def write_agent(path: str | PathLike[str], agent: "Agent", *, overwrite: bool) -> None:
    """Write all state of an agent to one file.

    A file that the agent has loaded or saved before, and that another has replaced since, is
    replaced only with `overwrite`.
    """
    state, decider = agent._state, agent._decider
    belief_meta, arrays = state.belief.state()
    own, ledger, encoder = state.catalogue.own, state.ledger, state.catalogue.encoder
    meta = {
        "prior": model_to_dict(state.prior),
        "policy": name_of(state.recipe),
        "belief": belief_meta,
        "draws": decider.draws,
        # None: an agent that is loaded with a journal has the usual floor.
        "floor": decider.floor if decider.floor or decider.has_own_floor else None,
        "random": decider.rng.bit_generator.state,
        "arms": None if own is None else state.catalogue.all_names,
        "encoder": None if encoder is None else encoder.to_dict(),
        "retired": sorted(state.catalogue.retired, key=str),
        "roster": state.roster.state(),
        "history": state.history,
        "num_events": state.num_events,
        "limits": state.limits.to_dict(),
        "clock": ledger.clock_to_data(),
        "batches": state.batches.state(),
        **entries_to_data(ledger),
    }
    shape = (-1,) if state.prior.is_armed else (-1, state.prior.dim)
    for name, entries in (("pending", ledger.pending), ("settled", ledger.settled)):
        features = np.array([entry.row for entry in entries.values()])
        arrays[name] = features.reshape(shape) if entries else np.empty((0, *shape[1:]), np.intp)
    if own is not None and not state.prior.is_armed:
        arrays["arms"] = own.table
    arrays["normals"] = decider.stock.left()
    arrays |= {
        f"sums.{name}": values for name, values in state.sums.state(len(state.roster)).items()
    }
    agent._agent_files.write(path, "agent", _VERSION, meta, arrays, overwrite=overwrite)


def read_agent(
    path: str | PathLike[str],
    policy: Recipe | None,
    limits: Limits | None,
    make: "Callable[..., Agent]",
) -> "Agent":
    """The agent that `write_agent` wrote; `make` makes a new agent from an Agent's arguments.

    `policy` is the agent's recipe if it has no name, and `limits` are its own unless given.
    """
    marks = FileMarks()
    meta, arrays = marks.read(path, "agent", _VERSION)
    name = meta.get("policy")
    if (name is None) == (policy is None):
        has = "a recipe of its own: give" if name is None else f"{name}: do not give"
        raise ValueError(f"{path} was saved with {has} policy")
    with sound(path, "agent"):
        if limits is None:
            limits = Limits(**meta.get("limits", {}))  # files of earlier builds have none
        make = partial(make, limits=limits)
        agent = _new_agent(meta, arrays, str(name) if policy is None else policy, make)
        _restore(agent, meta, arrays)
    agent._agent_files = marks
    return agent


def _new_agent(
    meta: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    policy: Recipe | str,
    make: "Callable[..., Agent]",
) -> "Agent":
    """An agent of the same arguments that has met no task yet."""
    prior = model_from_dict(meta["prior"])
    size = arrays["roots"].shape[1:]  # of a prior's size, so that it takes no more room
    if size[-1:] != (prior.dim,) or not (prior.is_armed or size == (prior.dim + 1, prior.dim)):
        raise ValueError(f"belief must be of the agent's prior, {prior}, got roots of {size}")
    if meta["draws"] is not None and count("draws", meta["draws"]) > _MOST_DRAWS:
        raise ValueError(f"draws must be at most {_MOST_DRAWS:,}, got {meta['draws']:,}")
    arms = meta["arms"]
    if arms is not None:
        arms = checked_names("arms", arms)
        if not prior.is_armed:
            arms = dict(zip(arms, arrays["arms"], strict=True))
    encoder = meta.get("encoder")  # files of earlier builds have none
    return make(
        prior if encoder is None else Start(prior, encoder=Encoder.from_dict(encoder)),
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
    check_same_model(belief, state.belief)
    state.policy.belief = belief
    _restore_random(agent._decider.rng.bit_generator, meta["random"])
    agent._decider.stock.put(real_array("normals", arrays["normals"], (None,), largest=_FURTHEST))
    state.roster = Roster.from_state(belief, state.roster.path_length, meta["roster"], state.limits)
    state.num_events, state.history = count("num_events", meta["num_events"]), meta["history"]
    if not isinstance(state.history, str) or not 0 < len(state.history) <= LONGEST_HISTORY:
        raise ValueError(f"history must be a string, got {state.history!r:.80}")
    if meta["retired"]:
        state.catalogue.retire(*checked_names("retired", meta["retired"]))
    own = {name[5:]: values for name, values in arrays.items() if name.startswith("sums.")}
    state.sums.restore(own, len(state.roster))
    for name in ("lost_xy", "lost_yy"):
        real_array(name, own[name], own[name].shape, largest=LARGEST**2)
    belief.check_totals(state.totals())
    told, known = state.totals().n.sum(), belief.num_rewards.sum()
    if told != known:
        raise ValueError(f"sums must be of the {known:g} rewards of the belief, got {told:g}")
    state.num_rewards = int(known)
    restore_entries(state, meta, arrays)
    if "clock" in meta:  # files of older versions have none
        state.ledger.restore_clock(meta["clock"])
    state.batches.restore(meta.get("batches", {}))  # nor these
    state.count_decisions()


def _restore_random(generator: Any, saved: dict[str, Any]) -> None:
    """Let a generator go on where another of its kind stood."""
    own = generator.state
    numbers = {"state": saved["state"]["state"], "inc": saved["state"]["inc"]}
    spare = {"has_uint32": saved["has_uint32"], "uinteger": saved["uinteger"]}
    sizes = {"state": 2**128, "inc": 2**128, "has_uint32": 2, "uinteger": 2**32}
    for name, value in (numbers | spare).items():
        if count(name, value) >= sizes[name]:
            raise ValueError(f"random must have {name} below {sizes[name]}, got {value}")
    if saved["bit_generator"] != own["bit_generator"] or numbers["inc"] % 2 == 0:
        raise ValueError(f"random must be a state of {own['bit_generator']}")
    generator.state = {"bit_generator": own["bit_generator"], "state": numbers, **spare}
