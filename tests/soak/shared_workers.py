"""Two and four workers that share a store, under load: kills, cuts, restarts, blocked sockets.

PYTHONPATH=tests python -m tests.soak shared_workers
"""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.postgres_servers import PostgresServer
from support.shared_workers import SharedTroubles

from hierbandits.service.doctor import doctor
from hierbandits.service.shared_check import check_shared

WORKERS = (2, 4)


def main(seconds: float) -> dict[str, int]:
    """Counts of what went wrong and was found again; anything lost or doubled is an error."""
    counts = Counter()
    postgres = PostgresServer()
    try:
        for number in WORKERS:
            counts += trouble(postgres, number, seconds / len(WORKERS))
    finally:
        postgres.close()
    return dict(counts)


def trouble(postgres, number, seconds):
    """So many workers for so long, and each trouble at least once."""
    end, rounds = time.monotonic() + seconds, 0
    with TemporaryDirectory() as folder:
        own = SharedTroubles(postgres, Path(folder), number, seed=time.time_ns(), largest=200)
        kinds = (own.kill_a_worker, own.kill_who_folds, own.cut_all, own.restart)
        try:
            while time.monotonic() < end or rounds == 0:
                for kind in (*kinds, own.block_a_worker) if seconds > 120 else kinds:
                    kind(longest=1.0)
                    own.counts[f"times: {kind.__name__.replace('_', ' ')}"] += 1
                faults = doctor(Path(folder) / "none", store=own.url).faults
                assert faults == [], faults
                rounds += 1
            (health,) = check_shared(own.url)
            print(f"    {number} workers: from the log by {health.difference:.1e}", flush=True)
        finally:
            own.close()
    return own.counts
