"""A disk that is full under load, again and again.

PYTHONPATH=tests python -m tests.soak service_full_disks
"""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.full_disks import full_and_empty, small_disk


def main(seconds: float) -> dict[str, float]:
    """Counts of what was refused, read and found again; anything lost is an error."""
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + seconds, 0
    while time.monotonic() < end or seed == 0:
        with TemporaryDirectory() as folder, small_disk(Path(folder) / "disk") as disk:
            counts += full_and_empty(disk, rounds=5, seed=seed)
        seed += 1
    return dict(counts)
