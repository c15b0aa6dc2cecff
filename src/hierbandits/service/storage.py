"""What the service asks of the place where its ledger is kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

Place: TypeAlias = tuple[int, int]
"""Where a decision is in the ledger of its policy: the number of its event, and its own in it."""


class StorageFailed(RuntimeError):
    """What was to be written is not: the disk is full, say.  Nothing of it is there."""


class NotOurs(RuntimeError):
    """This storage leaves that to other programs, which the words name."""


class StorageDamaged(RuntimeError):
    """What is read is not what was written."""


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """A policy by its name; `salt` is a secret of its own."""

    id: int
    name: str
    salt: bytes
    created: float


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """What a policy was told to be, as JSON, from the event after `after` on."""

    number: int
    settings: bytes
    after: int
    created: float


@dataclass(slots=True)
class Batch:
    """What one commit writes, all or nothing."""

    events: list[tuple[int, int, bytes]] = field(default_factory=list)  # policy, number, JSON
    ids: list[tuple[int, str, int, int]] = field(default_factory=list)  # policy, id, its place
    rewards: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Policy, place of the decision, and the event that rewarded it last."""
    measures: list[tuple[int, int, int, str, int]] = field(default_factory=list)
    """Policy, place of the decision, name of a metric, and the event that brought it."""
    assigned: list[tuple[int, str, str]] = field(default_factory=list)  # policy, task, arm
    versions: list[tuple[int, VersionRecord]] = field(default_factory=list)  # of policies

    def __bool__(self) -> bool:
        return bool(self.events or self.versions)

    def add(self, other: "Batch") -> None:
        """Write what another batch writes, too."""
        self.events += other.events
        self.ids += other.ids
        self.rewards += other.rewards
        self.measures += other.measures
        self.assigned += other.assigned
        self.versions += other.versions


class Rewriting(Protocol):
    """Changes events, which come in their order; then it knows which decisions are gone."""

    ids: list[str]
    places: list[Place]
    task: str
    """The task that keeps no arm any more, as JSON."""

    def __call__(self, data: bytes) -> bytes:
        """What an event becomes."""


class Storage(Protocol):
    """Keeps policies, their versions, their events in order, and what finds these.

    One process writes.  `commit` returns when all of a batch is on the disk.  Every event is kept
    with a checksum: a reader raises StorageDamaged in place of giving anything else than was
    written.  Reading and writing may happen in different threads.
    """

    def policies(self) -> list[PolicyRecord]:
        """All policies."""

    def create_policy(
        self,
        name: str,
        settings: bytes,
        created: float,
        *,
        salt: bytes | None = None,
        content: Callable[[PolicyRecord], Iterable[Batch]] | None = None,
    ) -> PolicyRecord:
        """A new policy with its first version, and with all that `content` gives, or nothing.

        Its secret is new unless it is given.
        """

    def delete_policy(self, policy: int) -> None:
        """Erase a policy with all its events."""

    def versions(self, policy: int) -> list[VersionRecord]:
        """The versions of a policy, the first one first."""

    def commit(self, batch: Batch) -> None:
        """Write a batch; StorageFailed if that cannot be done."""

    def try_writing(self) -> None:
        """Write what changes nothing; StorageFailed if that cannot be done."""

    def last(self, policy: int) -> int:
        """The number of the last event; the first is 1."""

    def events(self, policy: int, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The events after one, in order, each checked."""

    def event(self, policy: int, number: int) -> bytes | None:
        """One event, checked; None if there is none."""

    def find_ids(self, policy: int, ids: Sequence[str]) -> Mapping[str, Place]:
        """The places of decisions whose ids were given by clients; unknown ones are left out."""

    def rewarded_by(self, policy: int, places: Iterable[Place]) -> Mapping[Place, int]:
        """The event that rewarded each of these decisions last; others are left out."""

    def measured_by(
        self, policy: int, wanted: Iterable[tuple[Place, str]]
    ) -> Mapping[tuple[Place, str], int]:
        """The event that brought each of these metrics of decisions; others are left out."""

    def assigned(self, policy: int, tasks: Sequence[str]) -> Mapping[str, str]:
        """The arms that tasks keep, as JSON both."""

    def assignments(self, policy: int) -> Iterable[tuple[str, str]]:
        """All tasks that keep an arm, and the arms, as JSON both."""

    def rewrite(self, policy: int, change: Rewriting) -> int:
        """Change events for good, their checksums and what finds them, all or nothing.

        Returns how many events were changed.
        """

    def check(self) -> None:
        """Read everything; StorageDamaged if any of it is not what was written."""

    def backup(self, path: str) -> None:
        """Write a copy, as of one moment, while others go on."""

    @property
    def is_over(self) -> bool:
        """Whether another process has taken over, so that this one can write no more."""

    @property
    def owners(self) -> tuple[str, str]:
        """Marks of the process that wrote before this one, and of this one; "" where none is."""

    def close(self) -> None:
        """Write no more."""
