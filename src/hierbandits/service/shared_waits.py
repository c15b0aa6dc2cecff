"""Decisions of a shared policy whose rewards do not come."""

from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg

from hierbandits.service.postgres_tables import STILL_KNOWN
from hierbandits.service.shared_history import SETTLED, store_clock
from hierbandits.service.shared_ledger import SharedLedger
from hierbandits.service.shared_links import SharedLinks

AT_ONCE = 500
"""Decisions that one transaction looks at: its tasks are locked meanwhile."""
_BEGIN = (
    "INSERT INTO shared_waits (policy, at, id) SELECT id, '-infinity', '' FROM "
    "(SELECT id FROM shared_policies WHERE id = %s FOR KEY SHARE) AS still ON CONFLICT DO NOTHING"
)
_LAST = (
    f"SELECT at, id FROM shared_waits WHERE policy = %s AND {STILL_KNOWN} FOR UPDATE SKIP LOCKED"
)
_WAITED = (
    "SELECT made.at, made.id, given.id IS NULL FROM shared_decisions AS made "
    "LEFT JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND (made.at, made.id) > (%s, %s) AND made.at <= %s "
    "ORDER BY made.at, made.id LIMIT %s"
)
_WAITING = (
    "SELECT count(*) FROM shared_decisions AS made WHERE policy = %s AND at > %s AND NOT EXISTS "
    "(SELECT FROM shared_rewards AS given WHERE given.policy = made.policy AND given.id = made.id)"
)


class GaveUp(NamedTuple):
    """What one step has done: how many defaults it gave, and whether there is more to do."""

    number: int
    has_more: bool


class SharedWaits:
    """Gives decisions the default in place of a reward that has not come in time.

    They are looked at in the order of their times, by whichever worker is first, and the store
    keeps how far.  So each is looked at once: after its wait by the store's clock, and when no
    older one comes any more.
    """

    def __init__(
        self,
        policy: int,
        links: SharedLinks,
        clock: Callable[[psycopg.Connection[Any]], float] = store_clock,
    ) -> None:
        self._policy, self._links, self._clock = policy, links, clock

    def give_up(self, view: SharedLedger, wait: float, default: float) -> GaveUp:
        """Look at the oldest decisions; those without a reward have the default then."""
        with self._links.transaction() as db:
            last = db.execute(_LAST, (self._policy, self._policy), binary=True).fetchone()
            if last is None:  # it is the first time, or another worker is at it
                return GaveUp(0, db.execute(_BEGIN, (self._policy,)).rowcount == 1)
            now = self._clock(db)
            values = self._policy, *last, now - max(wait, SETTLED), AT_ONCE
            found = db.execute(_WAITED, values, binary=True).fetchall()
            ids = [id.decode() for _, id, is_waiting in found if is_waiting]
            if ids:
                view.put_defaults(db, ids, default, now)
            if found:
                sql = "UPDATE shared_waits SET at = %s, id = %b WHERE policy = %s"
                db.execute(sql, (*found[-1][:2], self._policy))
        return GaveUp(len(ids), len(found) == AT_ONCE)

    def waiting(self, wait: float) -> int:
        """How many decisions have no reward, and are not given up either, without a default."""
        with self._links.transaction() as db:
            values = self._policy, self._clock(db) - wait
            ((number,),) = db.execute(_WAITING, values).fetchall()
        return int(number)
