"""The decisions and rewards of a shared policy, each of them once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.agent.decision import task_name
from hierbandits.beliefs.single_site import Site
from hierbandits.service.api_problem import PolicyGone, Problem, not_found
from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.given_metrics import exposure_of
from hierbandits.service.log_export import LoggedDecision
from hierbandits.service.policy_answers import answer_correction, answer_late
from hierbandits.service.postgres_rows import columns, task_key
from hierbandits.service.postgres_tables import STILL_KNOWN
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.shared_metrics import REWARDED, put_metrics
from hierbandits.service.shared_sites import SharedSites
from hierbandits.service.shared_sums import SharedSums
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.storage import PolicyRecord
from hierbandits.service.stored_event import as_text
from hierbandits.service.wire import RewardReply
from hierbandits.types import TaskName

MATCHED_AGAIN = 1_000
"""Rewards of a task, the newest, that are matched again when its rewards have doubled."""
_AT_ONCE = 2_000  # rows that are read at a time
_NOTHING = None, False, None  # no reward, and so no default and no site
_DECIDE = (
    "INSERT INTO shared_decisions (policy, id, task_key, data, at) "
    "SELECT %s, id, task_key, data, at FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[], "
    f"%b::float8[]) AS new (id, task_key, data, at) WHERE {STILL_KNOWN} ORDER BY id "
    "ON CONFLICT (policy, id) DO NOTHING RETURNING id"
)
_ALL = (
    "SELECT made.id, data, value, provisional FROM shared_decisions AS made "
    "LEFT JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s"
)
_MADE = (
    "SELECT id, task_key, data FROM shared_decisions WHERE policy = %s AND id = ANY(%b::bytea[]) "
    f"AND {STILL_KNOWN}"
)
_GIVEN = (
    "SELECT id, value, provisional, site_precision, site_weighted FROM shared_rewards "
    "WHERE policy = %s AND id = ANY(%b::bytea[])"
)
_REWARD = (
    "INSERT INTO shared_rewards "
    "(policy, id, value, at, provisional, site_precision, site_weighted) "
    "SELECT %s, id, value, %s, %s, site_precision, site_weighted "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[], %b::float8[]) "
    "AS new (id, value, site_precision, site_weighted) "
    "ON CONFLICT (policy, id) DO UPDATE SET value = EXCLUDED.value, at = EXCLUDED.at, "
    "provisional = EXCLUDED.provisional, "
    "site_precision = EXCLUDED.site_precision, site_weighted = EXCLUDED.site_weighted"
)
_LEARNED = (
    "SELECT made.id, data, value, site_precision, site_weighted FROM shared_decisions AS made "
    "JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = %s AND site_precision IS NOT NULL "
    f"AND site_weighted IS NOT NULL ORDER BY given.at DESC, made.id LIMIT {MATCHED_AGAIN}"
)
_MATCHED = (
    "UPDATE shared_rewards SET site_precision = new.precision, site_weighted = new.weighted "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[]) AS new (id, precision, weighted) "
    "WHERE policy = %s AND shared_rewards.id = new.id"
)

Answer = Callable[[dict[str, Any], float], RewardReply | Problem | None]
"""What to tell about a reward of a decision, as it is stored; None if it is to be learned."""

Meet = Callable[[psycopg.Connection[Any], dict[bytes, TaskName], SharedSums], SharedSites]
"""What lets tasks, by their keys, whose rows are locked, learn rewards of a family."""


class SharedLedger:
    """Keeps what workers decide and hear, exactly once, whoever of them is told."""

    def __init__(
        self, record: PolicyRecord, links: SharedLinks, tasks: SharedTasks, meet: Meet
    ) -> None:
        self.ids = DecisionIds(record.salt)
        self._policy, self._links, self._tasks, self._meet = record.id, links, tasks, meet
        self._name = record.name

    def made(self, ids: Sequence[str]) -> dict[str, dict[str, Any] | None]:
        """Decisions that were made, with their rewards; others are left out."""
        sql = f"{_ALL} AND made.id = ANY(%b::bytea[])"
        rows = self._links.read(sql, (self._policy, _bytes(ids)))
        return {id.decode(): _parts(*row) for id, *row in rows}

    def decision(self, id: str) -> dict[str, Any] | None:
        """All that is stored of a decision, with its reward; None if there is none."""
        return self.made([id]).get(id)

    def keep(
        self, decisions: Sequence[dict[str, Any]], met: Mapping[bytes, object], now: float
    ) -> set[str]:
        """Store decisions; the ids of those that are new.

        `met` has the keys of tasks that have a row.  Of two workers that make a decision of the
        same id, the second finds that of the first.  PolicyGone if the policy is deleted.
        """
        rows, new = [], dict[bytes, bytes]()
        for parts in decisions:
            task = as_text(parts["task"])
            key = task_key(task)
            rows.append((parts["id"].encode(), key, msgspec.json.encode(parts), parts["time"]))
            if key not in met:
                new[key] = task.encode()
        with self._links.transaction() as db:
            if new:
                self._tasks.meet(db, new, now)
            values = self._policy, *columns(rows, 4), self._policy
            made = db.execute(_DECIDE, values, binary=True).fetchall()
            if len(made) < len(rows):
                self._check_known(db)
        return {id.decode() for (id,) in made}

    def reward(
        self, given: Sequence[tuple[str, float]], now: float, *, corrects: bool = False
    ) -> list[RewardReply | Problem]:
        """Learn rewards in one transaction, or replace those that there are.

        PolicyGone if the policy is deleted.
        """
        answer = answer_correction if corrects else answer_late
        with self._links.transaction() as db:
            return self._answered(db, given, now, answer, "corrected" if corrects else "learned")

    def put_defaults(
        self, db: psycopg.Connection[Any], ids: Sequence[str], default: float, now: float
    ) -> None:
        """Let decisions that have no reward have this one, until their own comes."""
        given = [(id, default) for id in ids]
        self._answered(db, given, now, _answer_default, "learned", provisional=True)

    def _answered(
        self,
        db: psycopg.Connection[Any],
        given: Sequence[tuple[str, float]],
        now: float,
        answer: Answer,
        status: str,
        *,
        provisional: bool = False,
    ) -> list[RewardReply | Problem]:
        """Learn those of some rewards that have no `answer` yet; these are told the `status`."""
        wanted = self._policy, _bytes({id for id, _ in given})
        made, sums = self._locked(db, wanted)
        if not made:
            self._check_known(db)
        # Who rewards a decision has its task locked: what is read now stays so.
        found = db.execute(_GIVEN, wanted, binary=True).fetchall()
        rewarded = {
            id.decode(): (value, is_default, site_of(*site))
            for id, value, is_default, *site in found
        }
        known = dict[str, dict[str, Any]]()
        for id, (_, parts) in made.items():
            reward, is_default, _ = rewarded.get(id, _NOTHING)
            known[id] = parts | {"reward": reward, "provisional": is_default}
        replies, changed = _answers(given, known, answer, status)
        if changed:
            self._learn(db, now, made, sums, rewarded, changed, provisional=provisional)
        return replies

    def _learn(
        self,
        db: psycopg.Connection[Any],
        now: float,
        made: Mapping[str, tuple[bytes, Any]],
        locked: Mapping[bytes, bytes | None],
        rewarded: Mapping[str, tuple[float | None, bool, Site | None]],
        changed: Mapping[str, float],
        *,
        provisional: bool,
    ) -> None:
        """Let decisions have rewards, and their tasks, whose rows are locked, learn them."""
        tasks = {made[id][0]: task_name(made[id][1]["task"]) for id in changed}
        places = {key: place for place, key in enumerate(tasks)}
        sums = self._tasks.sums(locked[key] for key in tasks)
        sites = None if self._tasks.family is None else self._meet(db, tasks, sums)
        rows, shown = [], []
        for id, value in changed.items():
            (key, parts), (was, is_default, site) = made[id], rewarded.get(id, _NOTHING)
            event = places[key], features_of(parts), was, value
            if sites is None:
                sums.learn(*event)
            else:
                site = sites.learn(*event, site)
            rows.append((id.encode(), value, *((None, None) if site is None else site)))
            is_first = was is None or is_default
            if is_first and not provisional and exposure_of(parts) is not None:
                shown.append((id, REWARDED, 1.0))
        db.execute(_REWARD, (self._policy, now, provisional, *columns(rows, 4)))
        if shown:
            put_metrics(db, self._policy, shown)
        if sites is not None:
            keys = list(tasks)
            for place in sites.due:
                self._match_again(db, sites, place, keys[place])
        self._tasks.learn(db, list(tasks), sums)

    def _match_again(
        self, db: psycopg.Connection[Any], sites: SharedSites, place: int, key: bytes
    ) -> None:
        """Let the newest rewards of a task, whose row is locked, be matched again."""
        found = db.execute(_LEARNED, (self._policy, key), binary=True).fetchall()
        features = [features_of(msgspec.json.decode(data)) for _, data, *_ in found]
        values = [value for _, _, value, *_ in found]
        parts = sites.again(place, features, values, [Site(*row[3:]) for row in found])
        rows = [(row[0], *site) for row, site in zip(found, parts, strict=True)]
        db.execute(_MATCHED, (*columns(rows, 3), self._policy))

    def _locked(
        self, db: psycopg.Connection[Any], wanted: tuple[int, list[bytes]]
    ) -> tuple[dict[str, tuple[bytes, Any]], dict[bytes, bytes | None]]:
        """Decisions, and the sums of their tasks by their keys, which nobody else changes now."""
        made, tasks = _made(db, wanted)
        sums = self._tasks.locked(db, tasks)
        if len(sums) < len(tasks):  # one was deleted, maybe while a decision was made for it
            made, tasks = _made(db, wanted)
            now = max((parts["time"] for _, parts in made.values()), default=0.0)
            self._tasks.meet(db, {key: tasks[key] for key in tasks if key not in sums}, now)
            sums = self._tasks.locked(db, tasks)
        return made, sums

    def _check_known(self, db: psycopg.Connection[Any]) -> None:
        known = db.execute("SELECT FROM shared_policies WHERE id = %s", (self._policy,))
        if not known.rowcount:
            raise PolicyGone(self._name)

    def logged(self) -> Iterator[LoggedDecision]:
        """All decisions in the order of their times, as of one moment."""
        return logged_by_workers(self._links, self._policy)


def logged_by_workers(links: SharedLinks, policy: int) -> Iterator[LoggedDecision]:
    """All decisions of a shared policy in the order of their times, as of one moment."""
    with links.transaction(LONG) as db, db.cursor("log", binary=True) as rows:
        rows.itersize = _AT_ONCE
        for _, data, value, provisional in rows.execute(
            f"{_ALL} ORDER BY made.at, made.id", (policy,)
        ):
            parts = _parts(data, value, provisional)
            version, best = parts["policy_version"], parts.get("best", False)
            yield LoggedDecision(parts, version, best, value, provisional)


def _made(
    db: psycopg.Connection[Any], wanted: tuple[int, list[bytes]]
) -> tuple[dict[str, tuple[bytes, Any]], dict[bytes, bytes]]:
    """Decisions with the keys of their tasks, and the names of tasks by their keys."""
    found = db.execute(_MADE, (*wanted, wanted[0]), binary=True).fetchall()
    made = {id.decode(): (key, msgspec.json.decode(data)) for id, key, data in found}
    return made, {key: as_text(parts["task"]).encode() for key, parts in made.values()}


def _answers(
    given: Sequence[tuple[str, float]],
    known: dict[str, dict[str, Any]],
    answer: Answer,
    status: str,
) -> tuple[list[RewardReply | Problem], dict[str, float]]:
    """What to tell about each reward, and the rewards that decisions have then."""
    replies: list[RewardReply | Problem] = []
    changed: dict[str, float] = {}
    for id, value in given:
        if id not in known:
            replies.append(not_found("decision", id))
            continue
        reply = answer(known[id], value)
        if reply is None:
            known[id] |= {"reward": value, "provisional": False}
            changed[id], reply = value, RewardReply(id, status)
        replies.append(reply)
    return replies, changed


def _answer_default(parts: dict[str, Any], value: float) -> RewardReply | None:
    return None if parts["reward"] is None else RewardReply(parts["id"], "duplicate")


def _parts(data: bytes, value: float | None, provisional: bool | None) -> dict[str, Any]:
    parts: dict[str, Any] = msgspec.json.decode(data)
    return parts | {"reward": value, "provisional": bool(provisional)}


def features_of(parts: dict[str, Any]) -> Any:
    """Features as sums take them: a vector, or an arm's place."""
    features = parts["features"]
    return np.array(features, float) if isinstance(features, list) else features


def site_of(precision: float | None, weighted: float | None) -> Site | None:
    """What is stored of a reward's site; None where there is none."""
    return None if precision is None or weighted is None else Site(precision, weighted)


def _bytes(ids: Any) -> list[bytes]:
    return [id.encode() for id in ids]
