"""The decisions that await a reward, and those that have it."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import Any

from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.roster import Member
from hierbandits.checks import state_array
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
    settled: float = 0.0  # when the reward came, by `Ledger.steady`
    provisional: bool = False  # whether the reward is a default, which a later one replaces
    place: int = 0  # in the order in which decisions were made
    lag: float = 0.0  # of the clock when it was made: `time + lag` never goes back

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

    Clocks may go back.  What `lag` adds to them does not: it is the sum of all their steps back.
    So the oldest decisions by that time come first, and old ones are found from there.
    """

    def __init__(self, remember: int | None = None, limits: Limits = LIMITS) -> None:
        self.remember, self.limits, self.most_pending = remember, limits, limits.pending
        self.pending: dict[str, Entry] = {}  # by id, oldest first
        self.settled: OrderedDict[str, Entry] = OrderedDict()  # by id, in the order of rewards
        self.num_added = 0
        self.latest, self.lag = -inf, 0.0  # the clock at the last event, and all its steps back
        self.made = 0
        self.begin_ids()

    def begin_ids(self) -> None:
        """Make ids that are unique to this object and process, with nothing from the agent's rng.

        A child that was forked begins anew, or it would repeat its parent's.
        """
        self.prefix = f"{secrets.token_hex(8)}-"

    def check_room(self, number: int) -> None:
        """Raise an error if so many more decisions cannot await their rewards."""
        if len(self.pending) + number > self.most_pending:
            raise ValueError(
                f"pending decisions must be at most {self.most_pending:,} (limits.pending), got "
                f"{number} more: reward some, or let `expire` give up the oldest"
            )

    def new_id(self) -> str:
        """The id of a new decision."""
        self.made += 1
        return f"{self.prefix}{self.made}"

    def new_ids(self, ids: Sequence[str] | None, number: int) -> list[str]:
        """The ids of so many new decisions: those that are given, checked, or else made here."""
        self.check_room(number)
        if ids is None:
            return [self.new_id() for _ in range(number)]
        if isinstance(ids, str) or not isinstance(ids, Sequence):
            raise ValueError(f"ids must be a list of {number} strings, got {ids!r:.80}")
        pending, settled, prefix = self.pending, self.settled, self.prefix
        for id in ids:
            if not isinstance(id, str) or not id:
                raise ValueError(f"ids must be non-empty strings, got {id!r:.80}")
            if id in pending or id in settled:
                raise ValueError(f"ids must be new, got {id!r}, which is a decision already")
            if id.startswith(prefix):
                raise ValueError(
                    f"ids must not begin with {self.prefix!r}, as those do that this agent makes, "
                    f"got {id!r:.80}"
                )
        if len(ids) != number or len(set(ids)) != number:
            raise ValueError(
                f"ids must be {number} distinct strings to match tasks, got {ids!r:.80}"
            )
        self.limits.check_names("ids", ids)
        return list(ids)

    def lag_at(self, now: float) -> float:
        """All steps back of the clock, if it says so now."""
        return self.lag + max(self.latest - now, 0.0)

    def steady(self, now: float) -> float:
        """A time that never goes back, if the clock says so now."""
        return now + self.lag_at(now)

    def tick(self, now: float) -> None:
        """An event has happened at this time of the clock."""
        self.latest, self.lag = now, self.lag_at(now)

    def clock_to_data(self) -> dict[str, Any]:
        """The time of the last event, and the steps back before it and before each that waits."""
        lags = [entry.lag for entry in self.pending.values()] if self.lag else []
        return {
            "latest": None if self.latest == -inf else self.latest,
            "lag": self.lag,
            "lags": lags,
        }

    def restore_clock(self, data: Mapping[str, Any]) -> None:
        """Take what `clock_to_data` described, checked, when the decisions are there."""
        latest, lags = data["latest"], data["lags"] or [0.0] * len(self.pending)
        self.latest = -inf if latest is None else float(state_array("latest", latest, ()))
        self.lag = float(state_array("lag", data["lag"], ()))
        each = state_array("lags", lags, (len(self.pending),)).tolist()
        for entry, lag in zip(self.pending.values(), each, strict=True):
            if not 0 <= lag <= self.lag:
                raise ValueError(f"lags must be in [0, {self.lag}], got {lag}")
            entry.lag = lag

    def add(self, entry: Entry, *, best: bool = False) -> None:
        """A new decision awaits its reward, and its task counts it; twice is as once."""
        if entry.id in self.pending:
            return
        member, lag, back = entry.member, self.lag, self.latest - entry.time
        entry.place, entry.lag = self.num_added, lag + back if back > 0 else lag
        # At once: no interrupt comes between the parts of an assignment.
        self.pending[entry.id], self.num_added, member.decisions, member.best = (
            entry,
            self.num_added + 1,
            member.decisions + 1,
            member.best + best,
        )

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
        entries: Sequence[Entry],
        rewards: Sequence[float],
        now: float,
        *,
        provisional: bool = False,
    ) -> None:
        """Different decisions have their rewards now; twice is as once.

        The oldest beyond `remember` go, but none before all of these are settled.
        """
        time = self.steady(now)
        for entry, reward in zip(entries, rewards, strict=True):
            id = entry.id
            self.settled[id] = entry
            self.settled.move_to_end(id)
            self.pending.pop(id, None)
            entry.reward, entry.settled, entry.provisional = reward, time, provisional
        self.trim()

    def trim(self) -> None:
        """Forget the oldest settled decisions beyond `remember`."""
        while self.remember is not None and len(self.settled) > self.remember:
            self.settled.popitem(last=False)

    def pending_before(self, time: float) -> list[Entry]:
        """The pending decisions made before a `steady` time, which are the first of them."""
        return list(takewhile(lambda e: e.time + e.lag < time, self.pending.values()))

    def settled_before(self, time: float) -> list[Entry]:
        """The settled decisions whose reward came before a `steady` time."""
        return list(takewhile(lambda entry: entry.settled < time, self.settled.values()))

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
