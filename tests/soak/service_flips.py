"""Bits that flip in the ledger and the snapshots of a service: as long as one likes.

PYTHONPATH=tests python -m tests.soak service_flips
"""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.byte_flips import flips


def main(seconds: float) -> dict[str, int]:
    """Counts of what was tried; anything wrong is an error."""
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + seconds, 0
    while time.monotonic() < end or seed == 0:
        with TemporaryDirectory() as folder:
            counts.update(flips(Path(folder), 1000, seed))
        seed += 1
    return dict(counts)
