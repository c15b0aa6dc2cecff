"""A policy with its log in one file, to be moved into another data folder."""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from math import isfinite
from pathlib import Path
from typing import IO, Any

import msgspec

from hierbandits.agent import Agent
from hierbandits.agent.agent_handover import AgentHandover
from hierbandits.agent.journal import Event
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.decision_ids import ID, is_id
from hierbandits.service.ledger_index import LedgerIndex
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.storage import Batch, PolicyRecord, Storage, VersionRecord
from hierbandits.service.stored_event import agent_events, encoded
from hierbandits.service.task_groups import SECRET

FORMAT = 1
"""The version of these files."""

LONGEST_SALT = 64
"""Bytes of a policy's salt at most."""

_HEADER, _EVENTS, _KEPT = "policy.json", "events.jsonl", "assigned.jsonl"
_AT_ONCE = 5000  # events that are written together
_BUFFER = 1 << 20
_DAMAGE = (zipfile.BadZipFile, zlib.error, KeyError, TypeError, EOFError, NotImplementedError)


@dataclass(slots=True)
class PolicyArchive:
    """A policy: all its versions, its events in order, and the arms that its tasks keep.

    Events are read from the file each time that they are asked for: the file must stay.
    """

    salt: bytes | None
    versions: list[VersionRecord]
    events: Iterable[bytes]
    assigned: list[tuple[str, str]]

    @property
    def settings(self) -> PolicySettings:
        """What the policy is told to be now."""
        return PolicySettings.from_json(self.versions[-1].settings)

    def checked_agent(self) -> Agent:
        """An agent of the newest settings that has seen all events; a ValueError if it cannot."""
        settings = self.settings
        settings.check()
        agent = settings.make_agent(lambda event: None, seed=0)
        agent.catch_up(agent_events(enumerate(self.events, start=1), agent.position[0]))
        return agent

    def batches(self, record: PolicyRecord) -> Iterator[Batch]:
        """All that is to be written for a new policy that has its first version already."""
        index, policy = LedgerIndex(record.salt), record.id
        yield Batch(
            assigned=[(policy, task, arm) for task, arm in self.assigned],
            versions=[(policy, version) for version in self.versions[1:]],
        )
        events: list[tuple[int, int, bytes]] = []
        for number, data in enumerate(self.events, start=1):
            index.add(number, data)
            events.append((policy, number, data))
            if len(events) == _AT_ONCE:
                yield index.take(policy, events)
                events = []
        yield index.take(policy, events)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of a part of an archive, read anew each time."""

    path: Path
    part: str

    def __iter__(self) -> Iterator[bytes]:
        with zipfile.ZipFile(self.path) as archive, archive.open(self.part) as lines:
            for line in io.BufferedReader(lines, _BUFFER):  # type: ignore[type-var]
                yield line.rstrip(b"\n")


def write_policy(record: PolicyRecord, storage: Storage, file: IO[bytes]) -> None:
    """Write a policy as it is now; nobody may delete its tasks meanwhile."""
    last = storage.last(record.id)
    stored = takewhile(lambda one: one[0] <= last, storage.events(record.id))
    versions = (one for one in storage.versions(record.id) if one.after <= last)
    kept = storage.assignments(record.id)
    write_archive(file, record, (data for _, data in stored), versions, kept)


def write_archive(
    file: IO[bytes],
    record: PolicyRecord,
    events: Iterable[bytes],
    versions: Iterable[VersionRecord],
    assigned: Iterable[tuple[str, str]],
) -> None:
    """Write a policy; its versions are asked for when its events have been read."""
    digests, number = {}, 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(_EVENTS, "w", force_zip64=True) as lines:
            digest = blake2b(digest_size=32)
            for data in events:
                lines.write(data + b"\n")
                digest.update(data + b"\n")
                number += 1
            digests[_EVENTS] = digest.hexdigest()
        kept = b"".join(msgspec.json.encode(pair) + b"\n" for pair in assigned)
        archive.writestr(_KEPT, kept)
        digests[_KEPT] = blake2b(kept, digest_size=32).hexdigest()
        told = [
            {
                "number": one.number,
                "settings": json.loads(one.settings),
                "after": one.after,
                "created": one.created,
            }
            for one in versions
        ]
        header = {
            "kind": "hierbandits policy", "format": FORMAT, "name": record.name,
            "salt": record.salt.hex(), "events": number, "versions": told, "digests": digests,
        }  # fmt: skip
        archive.writestr(_HEADER, json.dumps(header, allow_nan=False))


def read_policy(path: Path, most_bytes: int = 4 << 30) -> PolicyArchive:
    """The policy in a file that `write_policy`, or `Agent.save`, wrote; ValueError if it is none.

    A file whose parts have more than `most_bytes` is refused.  Events stay in the file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if _HEADER not in archive.namelist():
                return _of_agent(path)
            size = sum(info.file_size for info in archive.infolist())
            if size > most_bytes:
                raise ValueError(f"archive must have at most {most_bytes} bytes, got {size}")
            return _read(archive, path)
    except _DAMAGE as error:
        raise ValueError(f"archive must be of a policy or an agent, got {error!r:.200}") from error


def _read(archive: zipfile.ZipFile, path: Path) -> PolicyArchive:
    header = json.loads(archive.read(_HEADER))
    if header["format"] != FORMAT:
        raise ValueError(f"archive must have the format {FORMAT}, got {header['format']!r:.80}")
    events, kept = _Lines(path, _EVENTS), archive.read(_KEPT)
    digest, number, wrong = blake2b(digest_size=32), 0, ""
    for line in events:
        digest.update(line + b"\n")
        number += 1
        wrong = wrong or _fault(line)
    for name, found in (
        (_EVENTS, digest.hexdigest()),
        (_KEPT, blake2b(kept, digest_size=32).hexdigest()),
    ):
        if found != header["digests"][name]:
            raise ValueError(f"archive is damaged: {name} is not what was written")
    if number != header["events"]:
        raise ValueError(f"archive must hold {header['events']} events, got {number}")
    if wrong:
        raise ValueError(wrong)
    salt = bytes.fromhex(header["salt"])
    if not SECRET <= len(salt) <= LONGEST_SALT:
        raise ValueError(f"salt must have {SECRET} to {LONGEST_SALT} bytes, got {len(salt)}")
    told = enumerate(header["versions"], start=1)
    versions = [_version(one, place, number) for place, one in told]
    if not versions or [one.after for one in versions] != sorted(one.after for one in versions):
        raise ValueError("versions must follow each other, and be at least one")
    assigned = [msgspec.json.decode(line, type=tuple[str, str]) for line in kept.splitlines()]
    return PolicyArchive(salt, versions, events, assigned)


class _Made(msgspec.Struct):
    """The ids of an event's decisions."""

    class Decision(msgspec.Struct):
        id: str

    decisions: list[Decision | None] = []


def _fault(line: bytes) -> str:
    """What is wrong with the ids of an event's decisions; nothing if they are sound."""
    try:
        made = msgspec.json.decode(line, type=_Made).decisions
    except msgspec.MsgspecError as error:
        return f"events must be JSON, and their decisions have ids, got {error!s:.200}"
    bad = [one.id for one in made if one is not None and not is_id(one.id)]
    return f"id must be {ID}, got {bad[0]!r:.80}" if bad else ""


def _version(parts: dict[str, Any], number: int, events: int) -> VersionRecord:
    if parts["number"] != number:
        raise ValueError(f"version must be {number}, got {parts['number']!r:.80}")
    after, created = parts["after"], parts["created"]
    if type(after) is not int or not 0 <= after <= events:
        raise ValueError(
            f"after of version {number} must be a number of events, at most {events}, "
            f"got {after!r:.80}"
        )
    if type(created) not in (int, float) or not isfinite(created):
        raise ValueError(f"created of version {number} must be a time, got {created!r:.80}")
    settings = PolicySettings.from_json(msgspec.json.encode(parts["settings"]))
    return VersionRecord(number, settings.to_json(), after, float(created))


def _of_agent(path: Path) -> PolicyArchive:
    """The policy that goes on where the agent of a file stands."""
    past = AgentHandover.of(Agent.load(path))
    if past.rule is None:
        raise ValueError("agent must have a policy of the library, got a recipe of its own")
    settings = PolicySettings(
        prior=model_to_dict(past.prior),
        encoder=None if past.encoder is None else past.encoder.to_dict(),
        arms=None if past.encoder is not None else _named(past.arms),
        rule=past.rule,
        draws=PolicySettings().draws if past.draws is None else past.draws,
        floor=past.floor or None,
    )
    written: list[Event] = []
    agent = settings.make_agent(written.append, seed=0)
    if past.tasks:
        agent.learn_past(past.tasks, past.sums)
    for arm in past.retired:
        agent.retire_arm(arm)
    written += [past.decided(one) | {"policy_version": 1} for one in past.pending]
    created = written[0]["time"] if written else 0.0
    first = VersionRecord(1, settings.to_json(), 0, created)
    return PolicyArchive(None, [first], [encoded(event) for event in written], [])


def _named(arms: Any) -> Any:
    """Arms as settings have them: where they have features, their names are text."""
    if isinstance(arms, dict):
        return {str(name): row for name, row in arms.items()}
    return arms
