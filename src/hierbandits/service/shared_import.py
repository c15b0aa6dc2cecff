"""A policy in a file becomes one that workers share: all of it, or nothing."""

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec
import psycopg

from hierbandits.agent.decision import task_name
from hierbandits.agent.journal import Event
from hierbandits.service.api_problem import Problem
from hierbandits.service.archive_fit import versions_to_share
from hierbandits.service.decision_ids import LONGEST
from hierbandits.service.policy_archive import PolicyArchive
from hierbandits.service.postgres_rows import columns, task_key
from hierbandits.service.shared_folder import SharedFolder
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.shared_past import SharedPast
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.stored_event import as_text, decoded, rewards_in

_AT_ONCE = 5_000  # rows that are written together
_POLICY = (
    "INSERT INTO shared_policies (id, name, salt, created) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (name) DO NOTHING"
)
_VERSION = "INSERT INTO shared_versions (policy, number, settings, created) VALUES (%s, %s, %s, %s)"
_TASKS = (
    "INSERT INTO shared_tasks (policy, task_key, task, created) SELECT %s, task_key, task, at "
    "FROM unnest(%b::bytea[], %b::bytea[], %b::float8[]) AS new (task_key, task, at) "
    "ON CONFLICT (policy, task_key) DO NOTHING"
)
_DECISIONS = (
    "INSERT INTO shared_decisions (policy, id, task_key, data, at) "
    "SELECT %s, id, task_key, data, at FROM unnest(%b::bytea[], %b::bytea[], %b::bytea[], "
    "%b::float8[]) AS new (id, task_key, data, at) ON CONFLICT (policy, id) DO NOTHING"
)
_REWARDS = (
    "INSERT INTO shared_rewards (policy, id, value, at) SELECT policy, made.id, value, new.at "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[]) AS new (id, value, at) "
    "JOIN shared_decisions AS made ON made.policy = %s AND made.id = new.id "
    "ON CONFLICT (policy, id) DO UPDATE SET value = EXCLUDED.value, at = EXCLUDED.at"
)
_FORGET = (
    "DELETE FROM shared_rewards USING shared_decisions AS made WHERE made.policy = %s "
    "AND made.task_key = %s AND shared_rewards.policy = made.policy "
    "AND shared_rewards.id = made.id",
    "DELETE FROM shared_decisions WHERE policy = %s AND task_key = %s",
    "DELETE FROM shared_tasks WHERE policy = %s AND task_key = %s",
)


def import_shared(links: SharedLinks, name: str, archive: PolicyArchive) -> int:
    """Create a policy that goes on where that of an archive stood; its newest version.

    A ValueError names what workers cannot share, or what is wrong with the archive.
    """
    policy = secrets.randbits(62)
    versions, folder = _believed(links, policy, archive)
    archive.checked_agent()
    salt = secrets.token_bytes(16) if archive.salt is None else archive.salt
    with links.transaction(LONG) as db:
        db.execute(f"SET LOCAL idle_in_transaction_session_timeout = {round(1000 * LONG)}")
        if not db.execute(_POLICY, (policy, name, salt, archive.versions[0].created)).rowcount:
            raise Problem(409, "exists", f"policy {name!r} must be new, but there is one")
        for one, version in zip(archive.versions, versions, strict=True):
            db.execute(_VERSION, (policy, one.number, version.to_json(), one.created))
        _Rows(db, policy, versions[-1], len(versions)).write(archive)
        folder.begin_with(db, SharedPast(db, policy, versions[-1]).learn())
    return len(versions)


def check_import(links: SharedLinks, archive: PolicyArchive) -> None:
    """Raise a ValueError that names what workers cannot share; events are not replayed."""
    _believed(links, 0, archive)


def _believed(
    links: SharedLinks, policy: int, archive: PolicyArchive
) -> tuple[list[SharedVersion], SharedFolder]:
    """The versions of an archive, and what folds the newest one."""
    versions = versions_to_share(archive)
    folder = SharedFolder(policy, versions[-1].model(), links, len(versions))
    folder.first()
    return versions, folder


class _Rows:
    """Writes events of one policy as rows, some at a time."""

    def __init__(
        self, db: psycopg.Connection[Any], policy: int, newest: SharedVersion, number: int
    ) -> None:
        self._db, self._policy, self._number = db, policy, number
        names = newest.arms() if newest.model().is_armed else None
        # In another version arms may have had another order.
        self._places = None if names is None else {name: i for i, name in enumerate(names)}
        self._tasks: dict[bytes, tuple[bytes, float]] = {}
        self._made: list[tuple[bytes, bytes, bytes, float]] = []
        self._given: dict[bytes, tuple[float, float]] = {}

    def write(self, archive: PolicyArchive) -> None:
        """Let all decisions and rewards have their rows, and tasks rows without sums."""
        for data in archive.events:
            event = decoded(data)
            if event["kind"] == "decide":
                self._decided(event)
            elif event["kind"] == "forget":
                self._flush()
                key = task_key(as_text(task_name(event["task"])))
                for sql in _FORGET:
                    self._db.execute(sql, (self._policy, key))
            for id, (value, is_default) in rewards_in(data).items():
                if not is_default:  # workers give it anew
                    self._given[id.encode()] = float(value), float(event["time"])
            if len(self._made) + len(self._given) >= _AT_ONCE:
                self._flush()
        self._flush()

    def _decided(self, event: Event) -> None:
        version, best = event["policy_version"], event["best"]
        if type(version) is not int or not 0 < version <= self._number:
            raise ValueError(f"policy_version must be in 1 to {self._number}, got {version!r:.80}")
        more = {"policy_version": version} | ({"best": True} if best else {})
        for parts in event["decisions"]:
            if parts is None:  # its task is deleted
                continue
            task, arm = as_text(parts["task"]), parts["arm"]
            features = parts["features"] if self._places is None else self._places[arm]
            data = msgspec.json.encode(parts | more | {"features": features})
            key, at, id = task_key(task), float(parts["time"]), parts["id"]
            if len(id) > LONGEST:
                raise ValueError(f"id must be at most {LONGEST} characters, got {id!r:.80}")
            self._made.append((id.encode(), key, data, at))
            self._tasks.setdefault(key, (task.encode(), at))

    def _flush(self) -> None:
        tasks = [(key, *row) for key, row in self._tasks.items()]
        given = [(id, *row) for id, row in self._given.items()]
        self._db.execute(_TASKS, (self._policy, *columns(tasks, 3)))
        self._all_of(_DECISIONS, (self._policy, *columns(self._made, 4)), self._made, "new")
        self._all_of(_REWARDS, (*columns(given, 3), self._policy), given, "of decisions")
        self._tasks, self._made, self._given = {}, [], {}

    def _all_of(self, sql: str, values: Sequence[Any], rows: Sequence[Any], what: str) -> None:
        """Write rows; a ValueError unless each finds its place."""
        if self._db.execute(sql, values).rowcount != len(rows):
            raise ValueError(f"ids must be {what}, each once, in the events of an archive")
