"""Agents in files, so that a start need not replay a whole ledger; they can be deleted any time."""

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from hierbandits.agent import Agent
from hierbandits.agent.journal import Event
from hierbandits.atomic_write import atomic_write
from hierbandits.dashboard.policy_history import PolicyHistory
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.storage import PolicyRecord, Storage, StorageDamaged
from hierbandits.service.stored_event import agent_events, decoded


class Snapshots:
    """The snapshots of all policies in one folder, each named by its policy, version and event."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def claim(self, before: str, owner: str) -> None:
        """Take over what this owner, or the one `before`, has left; what others left is deleted.

        Another process may have deleted tasks since, that are in the snapshots here.
        """
        if not owner:
            return
        file = self._folder / "owner"
        self._folder.mkdir(exist_ok=True)
        if not file.exists() or file.read_text() != before:
            for path in self._folder.iterdir():
                path.unlink(missing_ok=True)
        with atomic_write(file) as mark:
            mark.write(owner.encode())

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

    def save(self, record: PolicyRecord, number: int, agents: Mapping[int, Agent]) -> None:
        """Keep the agents of versions that have seen all events up to this one.

        Of each version the newest two stay, and of others none.  An agent that is in the middle of
        a look at its widths is not kept: saving ends the look, and from there the policy would go
        on otherwise than the ledger tells.
        """
        self._folder.mkdir(exist_ok=True)
        for version, agent in agents.items():
            if not agent.is_looking:
                path = self._folder / f"{record.id}-{version}-{number}.agent"
                agent.save(path, overwrite=True)
        kept = [path for one in agents for _, path in self.found(record.id, one)[:2]]
        for path in self._folder.glob(f"{record.id}-*.agent"):
            if path not in kept:
                path.unlink(missing_ok=True)

    def one(
        self,
        record: PolicyRecord,
        version: int,
        number: int,
        journal: Callable[[Event], object],
        clock: Callable[[], float] = time.time,
    ) -> Agent | None:
        """The agent that had seen events up to this one; None if there is none that is sound."""
        path = self._folder / f"{record.id}-{version}-{number}.agent"
        try:
            agent = Agent.load(path, journal=journal, clock=clock, seed=secrets.randbits(63))
            if agent.position[1] != number:
                raise ValueError(f"{path} is of event {agent.position[1]}")
        except (ValueError, OSError):
            path.unlink(missing_ok=True)  # it is only a copy
            return None
        return agent

    def delete(self, policy: int) -> None:
        """Delete all snapshots of a policy, and its history."""
        for path in [*self._folder.glob(f"{policy}-*.agent"), *self._rollouts(policy)]:
            path.unlink(missing_ok=True)
        self.delete_history(policy)

    def delete_history(self, policy: int) -> None:
        """Delete the history of a policy: it is then counted again."""
        self._history_file(policy).unlink(missing_ok=True)

    def _history_file(self, policy: int) -> Path:
        return self._folder / f"{policy}.history"

    def load_history(self, policy: int, last: int) -> PolicyHistory:
        """The history of a policy as it was kept; an empty one if none is sound."""
        try:
            data = self._history_file(policy).read_bytes()
            history = PolicyHistory.from_state(msgspec.json.decode(data))
        except (OSError, ValueError, LookupError, TypeError):
            return PolicyHistory()
        return history if history.number <= last else PolicyHistory()

    def save_history(self, policy: int, history: PolicyHistory) -> None:
        """Keep a history."""
        self._folder.mkdir(exist_ok=True)
        with atomic_write(self._history_file(policy)) as file:
            file.write(msgspec.json.encode(history.state()))

    def _rollouts(self, policy: int) -> list[Path]:
        """What is kept of a policy's rollout, the newest first."""
        found = [
            path
            for path in self._folder.glob(f"{policy}-*.rollout")
            if path.stem.rsplit("-", 1)[1].isdigit()
        ]
        return sorted(found, key=_seen, reverse=True)

    def save_rollout(self, record: PolicyRecord, number: int, state: RolloutState) -> None:
        """Keep where a rollout stands after this event, and only the newest two."""
        self._folder.mkdir(exist_ok=True)
        with atomic_write(self._folder / f"{record.id}-{number}.rollout") as file:
            file.write(msgspec.json.encode(state.to_dict()))
        for path in self._rollouts(record.id)[2:]:
            path.unlink(missing_ok=True)

    def load_rollout(self, record: PolicyRecord, storage: Storage, *, until: int) -> RolloutState:
        """Where a rollout stands after event `until`."""
        for path in self._rollouts(record.id):
            number = _seen(path)
            if number > until:
                continue
            try:
                state = RolloutState.from_dict(msgspec.json.decode(path.read_bytes()))
            except (ValueError, LookupError, TypeError, OSError):
                path.unlink(missing_ok=True)  # it is only a copy
                continue
            return rollout_after(state, record, storage, number, until)
        return rollout_after(RolloutState(), record, storage, 0, until)

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
        for number, _ in self.found(record.id, version):
            agent = None if number > until else self.one(record, version, number, journal, clock)
            if agent is not None:
                return brought_up(agent, record, storage, number, until)
        return from_ledger(record, settings, storage, journal, until=until, clock=clock)


def acting_versions(
    record: PolicyRecord, storage: Storage, rollout: RolloutState
) -> dict[int, PolicySettings]:
    """The versions of a policy that decide, the newest first: one, or two while one is ramped."""
    versions = storage.versions(record.id)
    base = rollout.ramp.base
    acting = [versions[-1], *(one for one in versions if one.number == base)]
    return {one.number: PolicySettings.from_json(one.settings) for one in acting}


def _seen(path: Path) -> int:
    """The event that a file has seen last."""
    return int(path.stem.rsplit("-", 1)[1])


def rollout_after(
    state: RolloutState, record: PolicyRecord, storage: Storage, number: int, until: int
) -> RolloutState:
    """Where a rollout stands that has seen events up to `number`, after those up to `until`."""
    state.take(one for one in storage.events(record.id, number) if one[0] <= until)
    return state


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


def history_of(record: PolicyRecord, storage: Storage, history: PolicyHistory) -> PolicyHistory:
    """A history, brought up to the end of the ledger."""
    events = storage.events(record.id, history.number)
    history.follow((number, decoded(data)) for number, data in events)
    return history
