"""What happened to a shared policy over time, read on from where it was read last."""

from collections.abc import Callable, Generator
from contextlib import closing, suppress
from heapq import merge
from math import inf
from operator import itemgetter
from time import monotonic
from typing import Any

import msgspec
import psycopg

from hierbandits.dashboard.policy_history import PolicyHistory
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.storage import StorageFailed

SETTLED = 30.0
"""Seconds after which no row comes any more whose time is older: transactions are given up after
20 seconds, and clocks of workers may differ by the rest."""
LEAD = 5.0
"""Seconds by which decisions are read ahead of rewards, whose worker's clock may be behind."""
LEAST_KEPT, GROWTH_KEPT = 50_000, 0.1
"""A history is kept in the store when it has grown by so many rows, and by such a share."""
_AT_ONCE = 2_000  # rows that are read at a time
_MADE = (
    "SELECT at, id, data FROM shared_decisions WHERE policy = %s AND at > %s AND at <= %s "
    "ORDER BY at"
)
_GIVEN = (
    "SELECT at, id, value, provisional FROM shared_rewards "
    "WHERE policy = %s AND at > %s AND at <= %s ORDER BY at"
)
_KEPT = "SELECT forgotten, number FROM shared_histories WHERE policy = %s"
_STATE = "SELECT made, given, state FROM shared_histories WHERE policy = %s"
# A policy that is deleted meanwhile, and one of which a task is, keep none.
_KEEP = (
    "INSERT INTO shared_histories (policy, forgotten, number, made, given, state) "
    "SELECT id, %s, %s, %s, %s, %s FROM (SELECT id FROM shared_policies WHERE id = %s "
    "FOR KEY SHARE) AS still ON CONFLICT (policy) DO UPDATE SET number = EXCLUDED.number, "
    "made = EXCLUDED.made, given = EXCLUDED.given, state = EXCLUDED.state "
    "WHERE shared_histories.forgotten = EXCLUDED.forgotten "
    "AND shared_histories.number < EXCLUDED.number"
)
FORGET_HISTORY = (
    "INSERT INTO shared_histories (policy, forgotten) SELECT id, 1 FROM (SELECT id FROM "
    "shared_policies WHERE id = %s FOR KEY SHARE) AS still ON CONFLICT (policy) "
    "DO UPDATE SET forgotten = shared_histories.forgotten + 1, number = 0, state = NULL"
)
"""What the transaction that deletes a task says: the history is to be counted anew."""


def store_clock(db: psycopg.Connection[Any]) -> float:
    """The time by the clock of the store."""
    ((now,),) = db.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchall()
    return float(now)


class SharedHistory:
    """Follows the rows of one policy in the order of their times; so work is done once.

    What is older than `SETTLED` is followed for ever, and kept in the store, where other workers
    find it.  What is newer is followed anew at each look.
    """

    def __init__(
        self,
        policy: int,
        links: SharedLinks,
        clock: Callable[[psycopg.Connection[Any]], float] = store_clock,
    ) -> None:
        self._policy, self._links, self._clock = policy, links, clock
        self._forgotten = 0
        self.num_read = 0  # rows that the last look has read
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._history = PolicyHistory()
        self._made, self._given = -inf, -inf  # the times until which rows are followed
        self._kept = 0

    def look(self, most_seconds: float) -> dict[str, Any]:
        """What a page draws.

        If there is more to read than fits into the time, `counted_to` is the time of the last
        decision that counts; the next look goes on from there.
        """
        self.num_read = 0
        with self._links.transaction(LONG) as db:
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            now = self._clock(db)  # of the moment whose rows are seen
            self._find_kept(db)
            is_done = self._settle(db, now - SETTLED, monotonic() + most_seconds)
            whole = self._with_newest(db) if is_done else self._history
        self._keep_if_grown()
        return whole.to_dict() | {"counted_to": None if is_done else self._made}

    def _find_kept(self, db: psycopg.Connection[Any]) -> None:
        """Go on from what the store has, if that is further or a task was deleted since."""
        forgotten, number = db.execute(_KEPT, (self._policy,)).fetchone() or (0, 0)
        if forgotten != self._forgotten:
            self._begin_anew()
            self._forgotten = forgotten
        if number > self._history.number:
            ((made, given, state),) = db.execute(_STATE, (self._policy,), binary=True).fetchall()
            with suppress(ValueError, LookupError, TypeError):  # another release may have kept it
                self._history = PolicyHistory.from_state(msgspec.json.decode(state))
                self._made, self._given, self._kept = made, given, number

    def _settle(self, db: psycopg.Connection[Any], until: float, deadline: float) -> bool:
        """Follow rows that nothing can come before; whether there was time for all."""
        ends = until, max(until - LEAD, self._given)
        last = -inf
        with closing(self._rows(db, *ends)) as rows:
            for time, event in rows:
                if -inf < last < time and monotonic() > deadline:
                    return False  # all rows of one time are followed, and of one at least
                last = time
                self._follow(self._history, event)
                if event["kind"] == "decide":
                    self._made = event["time"]
                else:
                    self._given = event["time"]
        self._made, self._given = max(self._made, until), ends[1]
        return True

    def _with_newest(self, db: psycopg.Connection[Any]) -> PolicyHistory:
        """The history with the newest rows, which are followed again at the next look."""
        whole = None
        for _, event in self._rows(db, inf, inf):
            if whole is None:
                whole = PolicyHistory.from_state(msgspec.json.decode(self._to_json()))
            self._follow(whole, event)
        return self._history if whole is None else whole

    def _rows(
        self, db: psycopg.Connection[Any], made: float, given: float
    ) -> Generator[tuple[float, dict[str, Any]], None, None]:
        """The rows that are not followed yet, up to these times, as events; decisions lead."""
        with (
            db.cursor("made", binary=True) as decisions,
            db.cursor("given", binary=True) as rewards,
        ):
            decisions.itersize = rewards.itersize = _AT_ONCE
            decisions.execute(_MADE, (self._policy, self._made, made))
            rewards.execute(_GIVEN, (self._policy, self._given, given))
            yield from merge(
                ((row[0] - LEAD, _decided(*row)) for row in decisions),
                ((row[0], _rewarded(*row)) for row in rewards),
                key=itemgetter(0),
            )

    def _follow(self, history: PolicyHistory, event: dict[str, Any]) -> None:
        self.num_read += 1
        if event["kind"] == "reward" and history.has_reward(event["ids"][0]):
            event = {"kind": "correct", "id": event["ids"][0], "value": event["values"][0]}
        history.follow([(history.number + 1, event)])

    def _to_json(self) -> bytes:
        return msgspec.json.encode(self._history.state())

    def _keep_if_grown(self) -> None:
        """Keep a long history in the store, so that nobody has to read all of it again.

        A worker whose clock is far behind may have written rows among older ones since: then all
        begin anew.
        """
        number = self._history.number
        if number - self._kept < max(LEAST_KEPT, GROWTH_KEPT * number):
            return
        sql = "SELECT count(*) FROM shared_decisions WHERE policy = %s AND at <= %s"
        ((decisions,),) = self._links.read(sql, (self._policy, self._made))
        is_whole = decisions == self._history.counts["decisions"]
        values = self._forgotten, number, self._made, self._given, self._to_json(), self._policy
        with suppress(StorageFailed), self._links.transaction() as db:  # or the next time
            db.execute(*((_KEEP, values) if is_whole else (FORGET_HISTORY, (self._policy,))))
            self._kept = number


def _decided(at: float, id: bytes, data: bytes) -> dict[str, Any]:
    return {"kind": "decide", "time": at, "decisions": [msgspec.json.decode(data)]}


def _rewarded(at: float, id: bytes, value: float, provisional: bool) -> dict[str, Any]:
    if provisional:
        return {"kind": "expire", "time": at, "ids": [id.decode()], "default": value}
    return {"kind": "reward", "time": at, "ids": [id.decode()], "values": [value]}
