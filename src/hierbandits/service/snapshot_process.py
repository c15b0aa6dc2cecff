"""Makes a snapshot of a policy in a process of its own, so that the service goes on meanwhile.

python -m hierbandits.service.snapshot_process FOLDER POLICY
"""

import sys
from pathlib import Path

from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots, history_of
from hierbandits.service.sqlite_storage import SqliteStorage


def main(folder: Path, name: str) -> None:
    """Bring the newest snapshot of a policy up to date."""
    storage = SqliteStorage(folder / "ledger.db", read_only=True)
    snapshots = Snapshots(folder / "snapshots")
    (record,) = [one for one in storage.policies() if one.name == name]
    version, last = storage.versions(record.id)[-1], storage.last(record.id)
    settings = PolicySettings.from_json(version.settings)
    agent = snapshots.load(
        record, version.number, settings, storage, lambda event: None, until=last
    )
    snapshots.save(record, version.number, last, agent)
    snapshots.save_rollout(record, last, snapshots.load_rollout(record, storage, until=last))
    history = history_of(record, storage, snapshots.load_history(record.id, last))
    snapshots.save_history(record.id, history)
    storage.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
