"""Makes a snapshot of a policy in a process of its own, so that the service goes on meanwhile.

python -m hierbandits.service.snapshot_process FOLDER POLICY
"""

import sys
from pathlib import Path

from hierbandits.service.data_place import DataPlace
from hierbandits.service.snapshots import acting_versions, history_of


def main(folder: Path, name: str) -> None:
    """Bring the newest snapshot of a policy up to date."""
    place = DataPlace.of_process(folder)
    storage, snapshots = place.storage(read_only=True), place.snapshots
    (record,) = [one for one in storage.policies() if one.name == name]
    last = storage.last(record.id)
    rollout = snapshots.load_rollout(record, storage, until=last)
    agents = {
        number: snapshots.load(record, number, settings, storage, lambda event: None, until=last)
        for number, settings in acting_versions(record, storage, rollout).items()
    }
    snapshots.save(record, last, agents)
    snapshots.save_rollout(record, last, rollout)
    history = history_of(record, storage, snapshots.load_history(record.id, last))
    snapshots.save_history(record.id, history)
    storage.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
