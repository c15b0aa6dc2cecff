"""The decisions of a ledger as plain data, and back again with every part checked."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import task_name
from hierbandits.agent.ledger import Entry, Ledger
from hierbandits.checks import checked_names, count, index_array, real_array, state_array
from hierbandits.types import Name

_PARTS = 10


def entries_to_data(ledger: Ledger) -> dict[str, Any]:
    """All decisions without their features.

    Many have been offered the same arms: a decision has a place in the list of all offers.
    """
    offers: dict[tuple[Name, ...], int] = {}
    pending, settled = (
        [_parts(entry, offers) for entry in entries.values()]
        for entries in (ledger.pending, ledger.settled)
    )
    return {
        "remember": ledger.remember,
        "num_added": ledger.num_added,
        "pending": pending,
        "settled": settled,
        "offers": list(offers),
    }


def _parts(entry: Entry, offers: dict[tuple[Name, ...], int]) -> list[Any]:
    offer = offers.setdefault(entry.offered, len(offers))
    own = [entry.id, entry.member.task, entry.arm, entry.propensity, entry.time, offer]
    return [*own, entry.reward, entry.settled, entry.provisional, entry.place]


def restore_entries(
    state: AgentState, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Give the ledger of a new agent the decisions that `entries_to_data` described."""
    ledger = state.ledger
    ledger.num_added = count("num_added", meta["num_added"])
    offers = [tuple(checked_names("offers", offer)) for offer in meta["offers"]]
    pending = _entries(state, meta["pending"], arrays["pending"], offers, pending=True)
    settled = _entries(state, meta["settled"], arrays["settled"], offers, pending=False)
    every = [*pending, *settled]
    for name, values in (
        ("ids", {entry.id for entry in every}),
        ("place", {entry.place for entry in every}),
    ):
        if len(values) < len(every):
            raise ValueError(f"{name} of decisions must be different")
    if any(one.place > two.place for one, two in pairwise(pending)):
        raise ValueError("place of pending decisions must rise: the oldest come first")
    if ledger.remember is not None and len(settled) > ledger.remember:
        raise ValueError(f"settled must hold {ledger.remember} decisions at most")
    ledger.pending.update((entry.id, entry) for entry in pending)
    ledger.settled.update((entry.id, entry) for entry in settled)


def _entries(
    state: AgentState,
    saved: Sequence[Sequence[Any]],
    features: NDArray[Any],
    offers: list[tuple[Name, ...]],
    *,
    pending: bool,
) -> list[Entry]:
    """The decisions of one kind, with their features."""
    number, armed = len(saved), state.prior.is_armed
    if any(len(parts) != _PARTS for parts in saved):
        raise ValueError(f"decisions must have {_PARTS} parts each")
    columns = list(zip(*saved, strict=True)) or [()] * _PARTS
    ids, tasks, arms, chances, times, places_of_offers, rewards, since, defaults, places = columns
    if not all(isinstance(id, str) and id for id in ids):
        raise ValueError("ids must be non-empty strings")
    if not all(isinstance(default, bool) for default in defaults) or (pending and any(defaults)):
        raise ValueError("provisional must be true or false, and false of pending decisions")
    if any((reward is None) != pending for reward in rewards):
        raise ValueError("reward must be there if a decision is settled, and only then")
    rows = state.belief.checked_features(features, number)
    offer_of = index_array("offer", places_of_offers, len(offers), "offers").tolist()
    shares = real_array("propensity", [1 if c is None else c for c in chances], (number,))
    if not ((shares > 0) & (shares <= 1)).all():
        raise ValueError("propensity must be in (0, 1]")
    parts = zip(
        ids,
        [state.roster.find(task_name(task)) for task in tasks],
        _played(arms, rows, offers, offer_of, state.catalogue.names if armed else None),
        [int(row) if armed else row.copy() for row in rows],
        _where_given(chances, shares.tolist()),
        state_array("time", times, (number,)).tolist(),
        [offers[place] for place in offer_of],
        [None] * number if pending else real_array("reward", rewards, (number,)).tolist(),
        state_array("settled", since, (number,)).tolist(),
        defaults,
        index_array("place", places, state.ledger.num_added, "decisions").tolist(),
        strict=True,
    )
    return [Entry(*part) for part in parts]


def _played(
    arms: Iterable[Name],
    rows: NDArray[Any],
    offers: list[tuple[Name, ...]],
    offer_of: list[int],
    names: tuple[Name, ...] | None,
) -> list[Name]:
    """The arms played, each among those that were offered; `names` are all arms if armed."""
    sets = [frozenset(offer) for offer in offers]
    played = list(arms)
    for place, (arm, offer) in enumerate(zip(played, offer_of, strict=True)):
        fits = isinstance(arm, str | int) and arm in sets[offer]
        if not fits or (names is not None and names[rows[place]] != arm):
            raise ValueError(f"arm must be one that was offered, got {arm!r:.80}")
    return played


def _where_given(given: Iterable[float | None], values: list[float]) -> list[float | None]:
    return [None if one is None else value for one, value in zip(given, values, strict=True)]
