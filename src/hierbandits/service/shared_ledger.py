"""The decisions and rewards of a shared policy, each of them once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.agent.decision import task_name
from hierbandits.beliefs.single_site import Site
from hierbandits.service.api_problem import Problem, not_found
from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.log_export import LoggedDecision
from hierbandits.service.policy_answers import answer_correction, answer_late
from hierbandits.service.postgres_rows import columns, task_key
from hierbandits.service.shared_links import LONG, SharedLinks
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
_NOTHING = None, None  # the reward and its site of a decision that has none
_DECIDE = (
    "INSERT INTO shared_decisions (policy, id, task_key, data, at) "
    "SELECT %s, id, task_key, data, at FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[], "
    "%b::float8[]) AS new (id, task_key, data, at) ORDER BY id "
    "ON CONFLICT (policy, id) DO NOTHING RETURNING id"
)
_ALL = (
    "SELECT made.id, data, value FROM shared_decisions AS made LEFT JOIN shared_rewards AS given "
    "ON given.policy = made.policy AND given.id = made.id WHERE made.policy = %s"
)
_MADE = (
    "SELECT id, task_key, data FROM shared_decisions WHERE policy = %s AND id = ANY(%b::bytea[])"
)
_GIVEN = (
    "SELECT id, value, site_precision, site_weighted FROM shared_rewards "
    "WHERE policy = %s AND id = ANY(%b::bytea[])"
)
_REWARD = (
    "INSERT INTO shared_rewards (policy, id, value, at, site_precision, site_weighted) "
    "SELECT %s, id, value, %s, site_precision, site_weighted "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[], %b::float8[]) "
    "AS new (id, value, site_precision, site_weighted) "
    "ON CONFLICT (policy, id) DO UPDATE SET value = EXCLUDED.value, at = EXCLUDED.at, "
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

Meet = Callable[[psycopg.Connection[Any], dict[bytes, TaskName], SharedSums], SharedSites]
"""What lets tasks, by their keys, whose rows are locked, learn rewards of a family."""


class SharedLedger:
    """Keeps what workers decide and hear, exactly once, whoever of them is told."""

    def __init__(
        self, record: PolicyRecord, links: SharedLinks, tasks: SharedTasks, meet: Meet
    ) -> None:
        self.ids = DecisionIds(record.salt)
        self._policy, self._links, self._tasks, self._meet = record.id, links, tasks, meet

    def made(self, ids: Sequence[str]) -> dict[str, dict[str, Any] | None]:
        """Decisions that were made, with their rewards; others are left out."""
        sql = f"{_ALL} AND made.id = ANY(%b::bytea[])"
        rows = self._links.read(sql, (self._policy, _bytes(ids)))
        return {id.decode(): _parts(data, value) for id, data, value in rows}

    def decision(self, id: str) -> dict[str, Any] | None:
        """All that is stored of a decision, with its reward; None if there is none."""
        return self.made([id]).get(id)

    def keep(
        self, decisions: Sequence[dict[str, Any]], met: Mapping[bytes, object], now: float
    ) -> set[str]:
        """Store decisions; the ids of those that are new.

        `met` has the keys of tasks that have a row.  Of two workers that make a decision of the
        same id, the second finds that of the first.
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
            made = db.execute(_DECIDE, (self._policy, *columns(rows, 4)), binary=True).fetchall()
        return {id.decode() for (id,) in made}

    def reward(
        self, given: Sequence[tuple[str, float]], now: float, *, corrects: bool = False
    ) -> list[RewardReply | Problem]:
        """Learn rewards in one transaction, or replace those that there are."""
        wanted = self._policy, _bytes({id for id, _ in given})
        with self._links.transaction() as db:
            found = db.execute(_MADE, wanted, binary=True).fetchall()
            made = {id.decode(): (key, msgspec.json.decode(data)) for id, key, data in found}
            sums = self._locked(db, made)
            # Who rewards a decision has its task locked: what is read now stays so.
            found = db.execute(_GIVEN, wanted, binary=True).fetchall()
            rewarded = {id.decode(): (value, site_of(*site)) for id, value, *site in found}
            known = {
                id: parts | {"reward": rewarded.get(id, _NOTHING)[0], "provisional": False}
                for id, (_, parts) in made.items()
            }
            replies, changed = _answers(given, known, corrects=corrects)
            if changed:
                self._learn(db, now, made, sums, rewarded, changed)
        return replies

    def _learn(
        self,
        db: psycopg.Connection[Any],
        now: float,
        made: Mapping[str, tuple[bytes, Any]],
        locked: Mapping[bytes, bytes | None],
        rewarded: Mapping[str, tuple[float | None, Site | None]],
        changed: Mapping[str, float],
    ) -> None:
        """Let decisions have rewards, and their tasks, whose rows are locked, learn them."""
        tasks = {made[id][0]: task_name(made[id][1]["task"]) for id in changed}
        places = {key: place for place, key in enumerate(tasks)}
        sums = self._tasks.sums(locked[key] for key in tasks)
        sites = None if self._tasks.family is None else self._meet(db, tasks, sums)
        rows = []
        for id, value in changed.items():
            (key, parts), (was, site) = made[id], rewarded.get(id, _NOTHING)
            event = places[key], features_of(parts), was, value
            if sites is None:
                sums.learn(*event)
            else:
                site = sites.learn(*event, site)
            rows.append((id.encode(), value, *((None, None) if site is None else site)))
        db.execute(_REWARD, (self._policy, now, *columns(rows, 4)))
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
        self, db: psycopg.Connection[Any], made: Mapping[str, tuple[bytes, Any]]
    ) -> dict[bytes, bytes | None]:
        """The sums of the tasks of decisions, by their keys, which nobody else changes now."""
        tasks = {key: as_text(parts["task"]).encode() for key, parts in made.values()}
        sums = self._tasks.locked(db, tasks)
        if len(sums) < len(tasks):  # one was deleted while a decision was made for it
            now = max(parts["time"] for _, parts in made.values())
            self._tasks.meet(db, {key: tasks[key] for key in tasks if key not in sums}, now)
            sums = self._tasks.locked(db, tasks)
        return sums

    def logged(self) -> Iterator[LoggedDecision]:
        """All decisions in the order of their times, as of one moment."""
        with self._links.transaction(LONG) as db, db.cursor("log", binary=True) as rows:
            rows.itersize = _AT_ONCE
            for _, data, value in rows.execute(
                f"{_ALL} ORDER BY made.at, made.id", (self._policy,)
            ):
                parts = _parts(data, value)
                version, best = parts["policy_version"], parts.get("best", False)
                provisional = None if value is None else False
                yield LoggedDecision(parts, version, best, value, provisional)


def _answers(
    given: Sequence[tuple[str, float]], known: dict[str, dict[str, Any]], *, corrects: bool
) -> tuple[list[RewardReply | Problem], dict[str, float]]:
    """What to tell about each reward, and the rewards that decisions have then."""
    replies: list[RewardReply | Problem] = []
    changed: dict[str, float] = {}
    for id, value in given:
        if id not in known:
            replies.append(not_found("decision", id))
            continue
        answer = (answer_correction if corrects else answer_late)(known[id], value)
        if answer is None:
            known[id]["reward"] = changed[id] = value
            answer = RewardReply(id, "corrected" if corrects else "learned")
        replies.append(answer)
    return replies, changed


def _parts(data: bytes, value: float | None) -> dict[str, Any]:
    parts: dict[str, Any] = msgspec.json.decode(data)
    return parts | {"reward": value, "provisional": False}


def features_of(parts: dict[str, Any]) -> Any:
    """Features as sums take them: a vector, or an arm's place."""
    features = parts["features"]
    return np.array(features, float) if isinstance(features, list) else features


def site_of(precision: float | None, weighted: float | None) -> Site | None:
    """What is stored of a reward's site; None where there is none."""
    return None if precision is None or weighted is None else Site(precision, weighted)


def _bytes(ids: Any) -> list[bytes]:
    return [id.encode() for id in ids]
