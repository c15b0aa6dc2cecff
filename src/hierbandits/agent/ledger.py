"""The decisions that await a reward, and those that have it."""

import os
import secrets
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.roster import Member

_NOTHING: Mapping[str, float] = {}


class Pending(NamedTuple):
    """A decision that awaits its reward."""

    decision: Decision
    member: Member  # the task that it was made for
    time: float  # when it was made


class Ledger:
    """Knows decisions by their ids: first pending, then settled with their reward.

    By default decisions do not expire.  A decision awaits its reward, and remembers it, until
    `expire` is called with a time limit.
    """

    def __init__(self) -> None:
        self.pending: dict[str, Pending] = {}  # by id, oldest first
        # Id to (reward, time), oldest first; plain tuples, which the garbage collector skips.
        self.settled: dict[str, tuple[float, float]] = {}
        # Ids are unique to this object and process, and take nothing from the agent's rng.
        self._process, self._prefix, self._made = os.getpid(), secrets.token_hex(8), 0

    def new_ids(self, ids: Sequence[str] | None, number: int) -> list[str]:
        """The ids of so many new decisions: those that are given, checked, or else made here."""
        if ids is None:
            if self._process != os.getpid():  # forked
                self._process, self._prefix = os.getpid(), secrets.token_hex(8)
            first, self._made = self._made, self._made + number
            return [f"{self._prefix}-{place:x}" for place in range(first, self._made)]
        for id in ids:
            if not isinstance(id, str) or not id:
                raise ValueError(f"ids must be non-empty strings, got {id!r:.80}")
            if id in self.pending or id in self.settled:
                raise ValueError(f"ids must be new, got {id!r}, which is a decision already")
        if len(ids) != number or len(set(ids)) != number:
            raise ValueError(
                f"ids must be {number} distinct strings to match tasks, got {ids!r:.80}"
            )
        return list(ids)

    def add(self, decision: Decision, member: Member, time: float) -> None:
        """A new decision awaits its reward, and its task counts it."""
        member.decisions += 1
        self.pending[decision.id] = Pending(decision, member, time)

    def awaiting(
        self, id: str, reward: float, accepted: Mapping[str, float] = _NOTHING
    ) -> Pending | None:
        """The decision that awaits this reward, or None if the decision has this reward already.

        `accepted` holds rewards that will be settled together with this one.  Raises
        UnknownDecision for an unknown id, and RewardConflict if the decision has another reward.
        """
        if not isinstance(id, str):
            raise UnknownDecision(f"ids must be strings, got {id!r:.80}")
        pending = self.pending.get(id)
        if pending is not None and id not in accepted:
            return pending
        if pending is None and id not in self.settled:
            raise UnknownDecision(
                f"ids must be of decisions that were made and have not expired, got {id!r:.80}"
            )
        earlier = self.settled[id][0] if pending is None else accepted[id]
        if earlier != reward:
            raise RewardConflict(
                f"values must not change: decision {id!r} has the reward {earlier}, got {reward}"
            )
        return None

    def awaiting_many(self, ids: Sequence[str], rewards: Sequence[float]) -> list[Pending | None]:
        """`awaiting` for each of many rewards; of a reward that is repeated, the first counts."""
        accepted: dict[str, float] = {}
        decided = []
        for id, reward in zip(ids, rewards, strict=True):
            pending = self.awaiting(id, reward, accepted)
            if pending is not None:
                accepted[id] = reward
            decided.append(pending)
        return decided

    def settle(self, decided: Sequence[Pending], rewards: Sequence[float], time: float) -> None:
        """Pending decisions have their rewards now, and their tasks count them."""
        for (decision, member, _), reward in zip(decided, rewards, strict=True):
            member.rewards += 1
            del self.pending[decision.id]
            self.settled[decision.id] = reward, time

    def expire(self, before: float) -> list[str]:
        """Forget the decisions made, or rewarded, before a time; returns ids that were pending."""
        old = list(takewhile(lambda id: self.pending[id].time < before, self.pending))
        for id in old:
            del self.pending[id]
        for id in list(takewhile(lambda id: self.settled[id][1] < before, self.settled)):
            del self.settled[id]
        return old
