"""The decisions that await a reward, and those that have it."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.roster import Member
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.types import Name

_NOTHING: Mapping[str, float] = {}


@dataclass(slots=True, eq=False)
class Entry:
    """A decision in parts, with its features as a belief takes them, and its reward if it has one.

    They are kept apart because a `Decision` holds d Python numbers, in three times the memory.
    """

    id: str
    member: Member  # the task that it was made for
    arm: Name
    row: Any  # (d,), or the arm's index when armed
    propensity: float | None
    time: float
    offered: tuple[Name, ...]
    reward: float | None = None
    settled: float = 0.0  # when the reward came
    provisional: bool = False  # whether the reward is a default, which a later one replaces
    place: int = 0  # in the order in which decisions were made

    @property
    def decision(self) -> Decision:
        """The decision as people see it."""
        row = self.row
        features = row if type(row) is int else tuple(row.tolist())
        task, arm, offered = self.member.task, self.arm, self.offered
        parts = self.id, task, arm, features, self.propensity, self.time, offered
        return tuple.__new__(Decision, parts)  # in half the time of Decision(...)


class Ledger:
    """Knows decisions by their ids: first pending, then settled with their reward.

    A decision awaits its reward until `expire`.  Of the settled ones the last `remember` are
    kept; None keeps all.
    """

    def __init__(self, remember: int | None = None, limits: Limits = LIMITS) -> None:
        self.remember, self.limits, self.most_pending = remember, limits, limits.pending
        self.pending: dict[str, Entry] = {}  # by id, oldest first
        self.settled: OrderedDict[str, Entry] = OrderedDict()  # by id, in the order of rewards
        self.num_added = 0
        self._made = 0
        self.begin_ids()

    def begin_ids(self) -> None:
        """Make ids that are unique to this object and process, with nothing from the agent's rng.

        A child that was forked begins anew, or it would repeat its parent's.
        """
        self._prefix = f"{secrets.token_hex(8)}-"

    def check_room(self, number: int) -> None:
        """Raise an error if so many more decisions cannot await their rewards."""
        if len(self.pending) + number > self.most_pending:
            raise ValueError(
                f"pending decisions must be at most {self.most_pending:,} (limits.pending), got "
                f"{number} more: reward some, or let `expire` give up the oldest"
            )

    def new_id(self) -> str:
        """The id of a new decision."""
        self._made += 1
        return f"{self._prefix}{self._made}"

    def new_ids(self, ids: Sequence[str] | None, number: int) -> list[str]:
        """The ids of so many new decisions: those that are given, checked, or else made here."""
        self.check_room(number)
        if ids is None:
            return [self.new_id() for _ in range(number)]
        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise ValueError(f"ids must be a list of {number} strings, got {ids!r:.80}")
        for id in ids:
            if not isinstance(id, str) or not id:
                raise ValueError(f"ids must be non-empty strings, got {id!r:.80}")
            if id in self.pending or id in self.settled:
                raise ValueError(f"ids must be new, got {id!r}, which is a decision already")
        if len(ids) != number or len(set(ids)) != number:
            raise ValueError(
                f"ids must be {number} distinct strings to match tasks, got {ids!r:.80}"
            )
        self.limits.check_names("ids", ids)
        return list(ids)

    def add(self, entry: Entry) -> None:
        """A new decision awaits its reward, and its task counts it."""
        entry.member.decisions += 1
        entry.place = self.num_added
        self.num_added += 1
        self.pending[entry.id] = entry

    def awaiting(
        self, id: str, reward: float, accepted: Mapping[str, float] = _NOTHING
    ) -> Entry | None:
        """The decision that awaits this reward, or None if the decision has this reward already.

        A decision that has a default still awaits its reward.  `accepted` holds rewards that will
        be settled together with this one.  Raises UnknownDecision for an unknown id, and
        RewardConflict if the decision has another reward.
        """
        if not isinstance(id, str):
            raise UnknownDecision(f"ids must be strings, got {id!r:.80}")
        entry = self.pending.get(id)
        if entry is None:
            entry = self.known(id)
            if not entry.provisional:
                _check_same(id, entry.reward, reward)
                return None
        if id in accepted:
            _check_same(id, accepted[id], reward)
            return None
        return entry

    def awaiting_many(self, ids: Sequence[str], rewards: Sequence[float]) -> list[Entry | None]:
        """`awaiting` for each of many rewards; of a reward that is repeated, the first counts."""
        accepted: dict[str, float] = {}
        entries = []
        for id, reward in zip(ids, rewards, strict=True):
            entry = self.awaiting(id, reward, accepted)
            if entry is not None:
                accepted[id] = reward
            entries.append(entry)
        return entries

    def known(self, id: str) -> Entry:
        """The settled decision of this id."""
        entry = self.settled.get(id) if isinstance(id, str) else None
        if entry is None:
            if isinstance(id, str) and id in self.pending:
                raise ValueError(f"id must be of a decision that has its reward, got {id!r:.80}")
            raise UnknownDecision(
                f"ids must be of decisions that were made and are not forgotten, got {id!r:.80}"
            )
        return entry

    def settle(
        self,
        entry: Entry,
        reward: float,
        now: float,
        *,
        provisional: bool = False,
        alone: bool = True,
    ) -> None:
        """A decision has its reward now; if it is alone, the oldest beyond `remember` goes."""
        id = entry.id
        if entry.provisional:
            self.settled.move_to_end(id)
        else:
            self.settled[id] = self.pending.pop(id)
        entry.reward, entry.settled, entry.provisional = reward, now, provisional
        if alone and self.remember is not None and len(self.settled) > self.remember:
            self.settled.popitem(last=False)

    def settle_many(
        self,
        entries: Sequence[Entry],
        rewards: Sequence[float],
        now: float,
        *,
        provisional: bool = False,
    ) -> None:
        """`settle` of different decisions; none is forgotten before all of them are settled."""
        for entry, reward in zip(entries, rewards, strict=True):
            self.settle(entry, reward, now, provisional=provisional, alone=False)
        while self.remember is not None and len(self.settled) > self.remember:
            self.settled.popitem(last=False)

    def pending_before(self, time: float) -> list[Entry]:
        """The pending decisions made before a time."""
        return [entry for entry in self.pending.values() if entry.time < time]

    def settled_before(self, time: float) -> list[Entry]:
        """The settled decisions whose reward came before a time."""
        return [entry for entry in self.settled.values() if entry.settled < time]

    def drop(self, entries: Sequence[Entry]) -> None:
        """Forget these decisions."""
        for entry in entries:
            self.pending.pop(entry.id, None)
            self.settled.pop(entry.id, None)

    def of_member(self, member: Member) -> list[Entry]:
        """All decisions of a task."""
        return [
            entry
            for entries in (self.pending, self.settled)
            for entry in entries.values()
            if entry.member is member
        ]


def _check_same(id: str, earlier: float | None, reward: float) -> None:
    if earlier != reward:
        raise RewardConflict(
            f"values must not change: decision {id!r} has the reward {earlier}, got {reward}"
        )
