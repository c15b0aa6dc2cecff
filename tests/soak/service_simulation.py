"""Lives of a policy whose ledger fails and whose process dies: at least 10,000 seeds.

PYTHONPATH=tests python -m tests.soak service_simulation

A failure names its seed; `simulate(seed)` lives that life again.
"""

import logging
import os
import time
from collections import Counter

from support.service_simulation import simulate

SEEDS = int(os.environ.get("SOAK_SEEDS", "10000"))
FIRST = int(os.environ.get("SOAK_FIRST_SEED", "0"))


def main(seconds: float) -> dict[str, int]:
    """Counts of what happened in all lives; an invariant that does not hold is an error."""
    logging.getLogger("hierbandits.service").setLevel(logging.CRITICAL)
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + seconds, FIRST
    while time.monotonic() < end or seed < FIRST + SEEDS:
        try:
            counts.update(simulate(seed))
        except Exception as error:
            raise AssertionError(f"simulate({seed}) fails: {error!r}") from error
        seed += 1
        counts["seeds"] += 1
    return dict(counts)
