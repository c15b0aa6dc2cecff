"""Whether a data folder is sound: everything is read, and every belief is computed again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hierbandits.agent import Agent
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.service.data_place import DataPlace
from hierbandits.service.ledger_index import LedgerIndex
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.snapshots import (
    Snapshots,
    acting_versions,
    brought_up,
    from_ledger,
    rollout_after,
)
from hierbandits.service.storage import PolicyRecord, Storage, StorageDamaged, StorageFailed
from hierbandits.service.wal_frames import lost_frames

TOLERANCE = 1e-9
"""How far the posterior of a snapshot may be from that of the ledger, beside its own size."""

_AT_ONCE = 500  # ids that are looked up together
_FAULTS = (StorageDamaged, StorageFailed, ValueError, OSError)


@dataclass(slots=True)
class PolicyHealth:
    """What a look at one policy has found."""

    name: str
    version: int = 0
    events: int = 0
    decisions: int = 0
    rewards: int = 0
    snapshots: int = 0
    """The snapshots that were compared with the ledger."""
    difference: float = 0.0
    """The largest difference of posterior means, relative to their size."""


@dataclass(slots=True)
class DoctorReport:
    """What is in a data folder, and what is wrong with it, by name."""

    folder: str
    policies: list[PolicyHealth] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    has_shared: bool = False
    """Whether some policies are those of workers, whose rows have no checksums."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        names = PolicyHealth.__slots__
        policies = [{name: getattr(one, name) for name in names} for one in self.policies]
        return {
            "folder": self.folder,
            "is_sound": self.is_sound,
            "faults": self.faults,
            "policies": policies,
        }


def doctor(
    folder: Path,
    progress: Callable[[str], object] = lambda words: None,
    *,
    store: str | None = None,
) -> DoctorReport:
    """Check a data folder, or a store, that a service may be serving; nothing in it is changed.

    `progress` is told what is being done.
    """
    place = DataPlace(folder, store)
    if not place.has_ledger:
        raise ValueError(f"folder must be a data folder, got {str(folder)!r} without ledger.db")
    report = DoctorReport(str(place))
    progress("checksums of the ledger")
    fault = None if store is not None else _fault_of_log(folder / "ledger.db-wal")
    if fault is not None:
        report.faults.append(fault)
        return report
    storage = None
    try:
        storage = place.storage(read_only=True)
        storage.check()
        records = storage.policies()
    except _FAULTS as error:
        report.faults.append(f"{'ledger.db' if store is None else place}: {error}")
        return report
    finally:
        if storage is not None and report.faults:
            storage.close()
    for record in records:
        progress(f"policy {record.name}")
        health = PolicyHealth(record.name)
        report.policies.append(health)
        try:
            for fault in _faults_of(record, storage, place.snapshots, health):
                report.faults.append(f"policy {record.name!r}: {fault}")
        except _FAULTS as error:
            report.faults.append(f"policy {record.name!r}: {error}")
    storage.close()
    if store is not None:
        progress("policies that workers share")
        _check_shared(store, report)
    return report


def _check_shared(store: str, report: DoctorReport) -> None:
    """Look at the policies that workers of a store share."""
    from hierbandits.service.shared_check import check_shared

    try:
        for one in check_shared(store):
            report.has_shared = True
            health = PolicyHealth(one.name, one.version, decisions=one.decisions)
            health.rewards, health.difference = one.rewards, one.difference
            health.events = one.decisions + one.rewards
            report.policies.append(health)
            report.faults += [f"shared policy {one.name!r}: {fault}" for fault in one.faults]
    except _FAULTS as error:
        report.faults.append(f"shared policies: {error}")


def _fault_of_log(path: Path) -> str | None:
    """What is wrong with the write-ahead log that a crash left; one that is in use changes."""
    try:
        before = path.stat()
        lost = lost_frames(path)
        if lost is not None and before.st_mtime_ns == path.stat().st_mtime_ns:
            return f"{path.name} is damaged at frame {lost[0]}: what comes after it is lost"
    except FileNotFoundError:
        pass
    return None


def _faults_of(
    record: PolicyRecord, storage: Storage, snapshots: Snapshots, health: PolicyHealth
) -> Iterator[str]:
    """What is wrong with a policy."""
    version, last = storage.versions(record.id)[-1], storage.last(record.id)
    health.version, health.events = version.number, last
    index = LedgerIndex(record.salt)
    for number, data in storage.events(record.id):
        if number <= last:
            index.add(number, data)
    health.decisions, health.rewards = index.num_decisions, len(index.rewards)
    yield from _lost(record, storage, index)
    rollout = rollout_after(RolloutState(), record, storage, 0, last)
    yield from _rollout_faults(record, storage, snapshots, last, rollout)
    for one, settings in acting_versions(record, storage, rollout).items():
        agent = from_ledger(record, settings, storage, lambda event: None, until=last)
        yield from _snapshot_faults(record, storage, snapshots, one, last, agent, index, health)


def _snapshot_faults(
    record: PolicyRecord,
    storage: Storage,
    snapshots: Snapshots,
    version: int,
    last: int,
    agent: Agent,
    index: LedgerIndex,
    health: PolicyHealth,
) -> Iterator[str]:
    """How snapshots of a version differ from an agent that the ledger alone has taught."""
    for number, path in snapshots.found(record.id, version):
        if number > last:  # it was made since this look began, or its events are lost
            if storage.event(record.id, number) is None:
                yield f"{path.name} has seen event {number}, which the ledger does not have"
            continue
        try:
            other = brought_up(Agent.load(path), record, storage, number, last)
        except FileNotFoundError:  # replaced by a newer one
            continue
        except (ValueError, OSError) as error:
            yield f"{path.name} is damaged; the service makes another from the ledger: {error}"
            continue
        yield from _differences(agent, other, path.name, index.has_erased, health)


def _rollout_faults(
    record: PolicyRecord,
    storage: Storage,
    snapshots: Snapshots,
    last: int,
    rollout: RolloutState,
) -> Iterator[str]:
    """How what is kept of a rollout differs from what the ledger says of it."""
    kept = snapshots.load_rollout(record, storage, until=last).to_dict()
    for name, value in rollout.to_dict().items():
        if kept[name] != value:
            yield f"the rollout's {name} is kept in another state than the ledger has"


def _lost(record: PolicyRecord, storage: Storage, index: LedgerIndex) -> Iterator[str]:
    """Decisions and rewards that are in the ledger, but are not found there."""
    ids = list(index.given)
    for start in range(0, len(ids), _AT_ONCE):
        found = storage.find_ids(record.id, ids[start : start + _AT_ONCE])
        for id in ids[start : start + _AT_ONCE]:
            if found.get(id) != index.given[id]:
                yield f"decision {id!r} is not found by its id"
    found_rewards = storage.rewarded_by(record.id, index.rewards)
    for place, number in index.rewards.items():
        if found_rewards.get(place) != number:
            yield f"the reward of decision {place[1]} of event {place[0]} is not found"
    found_metrics = storage.measured_by(record.id, index.measures)
    for (place, name), number in index.measures.items():
        if found_metrics.get((place, name)) != number:
            yield f"{name!r} of decision {place[1]} of event {place[0]} is not found"


def _differences(
    agent: Agent, other: Agent, name: str, has_erased: bool, health: PolicyHealth
) -> Iterator[str]:
    """How an agent of a snapshot differs from that of the ledger."""
    health.snapshots += 1
    for what, one, two in (
        ("tasks", set(agent.tasks), set(other.tasks)),
        ("arms", agent.offers, other.offers),
        ("pending decisions", *({d.id for d in each.pending} for each in (agent, other))),
    ):
        if one != two:
            yield f"{name} has other {what} than the ledger"
            return
    # Where widths are unknown, or rewards are of a family, a deletion leaves traces of when it was.
    is_exact = not has_erased or isinstance(agent.prior, GaussianHierarchy)
    for task in agent.tasks:
        one, two = (each.task_table(task) for each in (agent, other))
        if one["rewards"] != two["rewards"]:
            yield f"{name} has other rewards of task {task!r} than the ledger"
            return
        if not is_exact:
            continue
        mean, its = np.array(one["mean"], float), np.array(two["mean"], float)
        size = np.maximum(np.abs(mean).max(initial=1.0), 1.0)
        health.difference = max(health.difference, float(np.abs(mean - its).max() / size))
        if not health.difference <= TOLERANCE:
            yield f"{name} believes something else of task {task!r} than the ledger"
            return
