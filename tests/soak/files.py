"""Savers that are killed, and files that are damaged, cut or edited: as long as one likes.

PYTHONPATH=tests python -m tests.soak.files 600
"""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.file_fuzz import fuzz, fuzz_journals
from support.kills import kills


def main(seconds: float) -> dict[str, int]:
    """Counts of what was tried; anything wrong is an error."""
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + seconds, 0
    while time.monotonic() < end or seed == 0:
        with TemporaryDirectory() as folder:
            counts.update(kills(Path(folder), 100, seed))
        with TemporaryDirectory() as folder:
            counts.update(fuzz(Path(folder), 1000, seed))
            counts.update(fuzz_journals(Path(folder), 1000, seed))
        seed += 1
    return dict(counts)
