"""Agents in files, so that a start need not replay a whole ledger; they can be deleted any time."""

import secrets
import time
from collections.abc import Callable
from pathlib import Path

from hierbandits.agent import Agent
from hierbandits.agent.journal import Event
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.storage import PolicyRecord, Storage, StorageDamaged
from hierbandits.service.stored_event import agent_events


class Snapshots:
    """The snapshots of all policies in one folder, each named by its policy, version and event."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def found(self, policy: int, version: int) -> list[tuple[int, Path]]:
        """The snapshots of a version of a policy, the newest first."""
        found = []
        for path in self._folder.glob(f"{policy}-{version}-*.agent"):
            number = path.stem.rsplit("-", 1)[1]
            if number.isdigit():
                found.append((int(number), path))
        return sorted(found, reverse=True)

    def newest(self, policy: int, version: int) -> int:
        """The event that the newest snapshot has seen; 0 if there is none."""
        found = self.found(policy, version)
        return found[0][0] if found else 0

    def save(self, record: PolicyRecord, version: int, number: int, agent: Agent) -> None:
        """Keep an agent that has seen all events up to this one, and only the newest two."""
        self._folder.mkdir(exist_ok=True)
        agent.save(self._folder / f"{record.id}-{version}-{number}.agent", overwrite=True)
        for path in self._folder.glob(f"{record.id}-*.agent"):
            if path not in [kept for _, kept in self.found(record.id, version)[:2]]:
                path.unlink(missing_ok=True)

    def delete(self, policy: int) -> None:
        """Delete all snapshots of a policy."""
        for path in self._folder.glob(f"{policy}-*.agent"):
            path.unlink(missing_ok=True)

    def load(
        self,
        record: PolicyRecord,
        version: int,
        settings: PolicySettings,
        storage: Storage,
        journal: Callable[[Event], object],
        *,
        until: int,
        clock: Callable[[], float] = time.time,
    ) -> Agent:
        """The agent of a policy after event `until`: from a snapshot if one is sound."""
        for number, path in self.found(record.id, version):
            if number > until:
                continue
            try:
                agent = Agent.load(path, journal=journal, clock=clock, seed=secrets.randbits(63))
                if agent.position[1] != number:
                    raise ValueError(f"{path} is of event {agent.position[1]}")
            except (ValueError, OSError):
                path.unlink(missing_ok=True)  # it is only a copy
                continue
            return brought_up(agent, record, storage, number, until)
        return from_ledger(record, settings, storage, journal, until=until, clock=clock)


def from_ledger(
    record: PolicyRecord,
    settings: PolicySettings,
    storage: Storage,
    journal: Callable[[Event], object],
    *,
    until: int,
    clock: Callable[[], float] = time.time,
) -> Agent:
    """The agent of a policy after event `until`, from the ledger alone."""
    agent = settings.make_agent(journal, secrets.randbits(63), clock)
    return brought_up(agent, record, storage, 0, until)


def brought_up(
    agent: Agent, record: PolicyRecord, storage: Storage, number: int, until: int
) -> Agent:
    """An agent that has seen events up to `number`, after those up to `until`."""
    stored = (one for one in storage.events(record.id, number) if one[0] <= until)
    agent.catch_up(agent_events(stored, agent.position[0]))
    if agent.position[1] != until:
        raise StorageDamaged(
            f"event {agent.position[1] + 1} of policy {record.name!r} is missing, of {until}"
        )
    return agent
