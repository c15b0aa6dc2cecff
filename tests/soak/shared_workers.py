"""Two and four workers that share a store, under load: kills, cuts, restarts, blocked sockets.

PYTHONPATH=tests python -m tests.soak shared_workers
"""

import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from support.click_play import OPEN
from support.postgres_servers import PostgresServer
from support.shared_workers import SharedTroubles

from hierbandits.service.doctor import doctor
from hierbandits.service.shared_check import check_shared

WORKERS = (2, 4)
OF_ARMS = ("armed", "clicks")
KINDS = (*OF_ARMS, "clicks by features", *OPEN)


def main(seconds: float) -> dict[str, int]:
    """Counts of what went wrong and was found again; anything lost or doubled is an error."""
    counts = Counter()
    postgres = PostgresServer()
    try:
        for kind in KINDS:
            for number in WORKERS:
                counts += trouble(postgres, kind, number, seconds / len(WORKERS) / len(KINDS))
    finally:
        postgres.close()
    return dict(counts)


def trouble(postgres, kind, number, seconds):
    """So many workers for so long, and each trouble at least once; a blocked socket takes time."""
    end, rounds = time.monotonic() + seconds, 0
    with TemporaryDirectory() as folder:
        own = SharedTroubles(
            postgres, Path(folder), number, seed=time.time_ns(), kind=kind, largest=200
        )
        kinds = [
            own.kill_a_worker, own.kill_who_folds, own.cut_who_folds, own.cut_all, own.restart,
        ]  # fmt: skip
        if kind in OF_ARMS:
            kinds.append(own.kill_who_changes_arms)
        if seconds > 60:
            kinds.append(own.block_a_worker)
        try:
            while time.monotonic() < end or rounds == 0:
                for one in kinds:
                    one(longest=1.0)
                    own.counts[f"times: {one.__name__.replace('_', ' ')}"] += 1
                faults = doctor(Path(folder) / "none", store=own.url).faults
                assert faults == [], faults
                rounds += 1
            (health,) = check_shared(own.url)
            far = "" if kind == "armed" else f", {own.play.farthest:.2f} sd from settled sites"
            print(
                f"    {kind}, {number} workers: {health.rewards:,} rewards, from the log by "
                f"{health.difference:.1e}{far}",
                flush=True,
            )
        finally:
            own.close()
    return own.counts
