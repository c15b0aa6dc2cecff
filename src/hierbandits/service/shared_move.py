"""Moves policies from a data folder to workers that share a store, or back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any

import msgspec

from hierbandits.service.archive_fit import versions_to_share
from hierbandits.service.data_place import DataPlace
from hierbandits.service.ledger_move import MovedPolicy, StoredEvents, move_tokens
from hierbandits.service.log_export import LoggedDecision, logged_decisions
from hierbandits.service.policy_archive import PolicyArchive, read_policy
from hierbandits.service.service import FolderLock
from hierbandits.service.shared_book import SharedBook
from hierbandits.service.shared_export import write_shared
from hierbandits.service.shared_import import check_import, import_shared
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.task_groups import SECRET
from hierbandits.service.worker_mark import WorkerMark

Progress = Callable[[str], object]

_COPY = "moving.policy"  # of the policy that is moved, in the folder
_AT_ONCE = 2_000  # decisions that are compared together
_MOST_BYTES = 1 << 62  # of a file that this program has written itself
_FORGET = b'{"kind":"forget"'
_MADE = (
    "SELECT made.id, data, value FROM shared_decisions AS made LEFT JOIN shared_rewards AS given "
    "ON given.policy = made.policy AND given.id = made.id AND NOT provisional "
    "WHERE made.policy = %s AND made.id = ANY(%b::bytea[])"
)
_COUNTS = (
    "SELECT (SELECT count(*) FROM shared_decisions WHERE policy = %(policy)s), "
    "(SELECT count(*) FROM shared_rewards WHERE policy = %(policy)s AND NOT provisional)"
)
_VERSIONS = "SELECT settings FROM shared_versions WHERE policy = %s ORDER BY number"


def move_to_workers(
    source: DataPlace, target: DataPlace, progress: Progress = lambda words: None
) -> list[MovedPolicy]:
    """Write all policies and tokens of a folder to workers of a store, and compare them.

    Nobody may serve either place.  The workers must have no policies, or what an earlier move of
    the same folder has left.  Each policy comes wholly or not at all, and none if one of them
    cannot be shared.  The source stays as it is.
    """
    if not source.has_ledger:
        raise ValueError(f"data must be a data folder, got {source} without ledger.db")
    with _Both(source, target) as both:
        progress(f"checksums of {source}")
        both.storage.check()
        names = [record.name for record in both.storage.policies()]
        both.compare_known(names, both.shared, target)
        archives = {one.name: both.archive(one) for one in both.storage.policies()}
        for name in names:
            if name not in both.shared:
                both.check(archives[name])
        move_tokens(source, target)
        return [both.moved(name, archives[name], target, progress) for name in names]


def move_to_folder(
    source: DataPlace, target: DataPlace, progress: Progress = lambda words: None
) -> list[MovedPolicy]:
    """The way back: all policies that workers of a store share, and its tokens."""
    with _Both(target, source) as both:
        names = sorted(both.shared)
        both.compare_known(names, both.alone, target)
        move_tokens(source, target)
        return [both.moved_back(name, target, progress) for name in names]


class _Both:
    """A folder and the policies that workers share, for as long as the move takes."""

    def __init__(self, folder: DataPlace, store: DataPlace) -> None:
        assert store.store is not None
        self._folder, self._stack = folder.folder, ExitStack()
        with ExitStack() as stack:
            self._folder.mkdir(parents=True, exist_ok=True)
            stack.callback(FolderLock(self._folder).release)
            self._clear()  # a move that was killed leaves copies of the log
            self.storage: Storage = folder.storage()
            stack.callback(self.storage.close)
            self._links = SharedLinks(store.store)
            stack.callback(self._links.close)
            stack.callback(WorkerMark(store.store, alone=True).release)
            self._stack = stack.pop_all()

    def __enter__(self) -> "_Both":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def alone(self) -> dict[str, PolicyRecord]:
        """The policies of the folder."""
        return {record.name: record for record in self.storage.policies()}

    @property
    def shared(self) -> dict[str, PolicyRecord]:
        """The policies of workers."""
        return {record.name: record for record in SharedBook(self._links).records()}

    def archive(self, record: PolicyRecord) -> PolicyArchive:
        """A policy of the folder."""
        events = StoredEvents(self.storage, record.id)
        if any(data.startswith(_FORGET) for data in events):
            raise ValueError(
                f"deletions of tasks must be done, but one of policy {record.name!r} was cut off: "
                "serve the folder once"
            )
        kept = list(self.storage.assignments(record.id))
        return PolicyArchive(record.salt, self.storage.versions(record.id), events, kept)

    def check(self, archive: PolicyArchive) -> None:
        """Refuse what workers cannot share."""
        check_import(self._links, archive)

    def compare_known(
        self, names: list[str], there: dict[str, PolicyRecord], target: DataPlace
    ) -> None:
        """Refuse a target that has anything but what an earlier move has left."""
        for name in names:
            if name in there:
                self._check_same(name, target)
        for name in sorted(there.keys() - set(names)):
            raise ValueError(f"target must be empty, but {target} has policy {name!r}")

    def moved(
        self, name: str, archive: PolicyArchive, target: DataPlace, progress: Progress
    ) -> MovedPolicy:
        """Let workers have a policy of the folder."""
        was_there = name in self.shared
        if not was_there:
            progress(f"policy {name}")
            import_shared(self._links, name, archive)
        return self._told(name, target, was_there=was_there)

    def moved_back(self, name: str, target: DataPlace, progress: Progress) -> MovedPolicy:
        """Let the folder have a policy of workers."""
        was_there = name in self.alone
        if not was_there:
            progress(f"policy {name}")
            path = self._folder / _COPY
            try:
                with open(path, "wb") as file:
                    write_shared(self.shared[name], self._links, file)
                archive = read_policy(path, _MOST_BYTES)
                archive.checked_agent()
                first = archive.versions[0]
                self.storage.create_policy(
                    name, first.settings, first.created, salt=archive.salt, content=archive.batches
                )
            finally:
                self._clear()
        return self._told(name, target, was_there=was_there)

    def _clear(self) -> None:
        (self._folder / _COPY).unlink(missing_ok=True)

    def _told(self, name: str, target: DataPlace, *, was_there: bool) -> MovedPolicy:
        number = self._check_same(name, target)
        versions = self.storage.versions(self.alone[name].id)
        return MovedPolicy(name, len(versions), number, was_there)

    def _check_same(self, name: str, target: DataPlace) -> int:
        """Refuse a policy that is another one at the two places; its decisions and rewards."""
        alone, shared = self.alone[name], self.shared[name]
        counts = self._same_decisions(alone, shared)
        rows = self._links.read(_VERSIONS, (shared.id,))
        ((decisions, rewards),) = self._links.read(_COUNTS, {"policy": shared.id})
        is_same = (
            alone.salt[-SECRET:] == shared.salt[-SECRET:]
            and counts == (decisions, rewards)
            and versions_to_share(self.archive(alone))
            == [SharedVersion.from_json(data) for (data,) in rows]
        )
        if not is_same:
            raise ValueError(f"target must be empty, but {target} has another policy {name!r}")
        return int(decisions + rewards)

    def _same_decisions(self, alone: PolicyRecord, shared: PolicyRecord) -> tuple[int, int] | None:
        """How many decisions and rewards the folder has; None unless workers have all of them."""
        found, decisions, rewards = logged_decisions(alone, self.storage), 0, 0
        while some := list(islice(found, _AT_ONCE)):
            known = {
                one.parts["id"]: _same(
                    one.parts | {"policy_version": one.version, "best": one.best}, _given(one)
                )
                for one in some
            }
            ids = [id.encode() for id in known]
            if dict(self._made(shared, ids)) != known:
                return None
            decisions += len(some)
            rewards += sum(_given(one) is not None for one in some)
        return decisions, rewards

    def _made(self, shared: PolicyRecord, ids: list[bytes]) -> Iterator[tuple[str, Any]]:
        for id, data, value in self._links.read(_MADE, (shared.id, ids)):
            yield id.decode(), _same({"best": False} | msgspec.json.decode(data), value)


def _given(one: LoggedDecision) -> float | None:
    """The reward of a decision; a default is none."""
    return None if one.provisional else one.reward


def _same(parts: dict[str, Any], reward: float | None) -> tuple[dict[str, Any], float | None]:
    """What is the same of a decision at both places; an arm's name says its place."""
    return {k: v for k, v in parts.items() if k != "features" or isinstance(v, list)}, reward
