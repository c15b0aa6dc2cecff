"""Two processes of one PostgreSQL under load: kill -9, cut and blocked connections, restarts.

PYTHONPATH=tests python -m tests.soak postgres_troubles
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support.postgres_servers import PostgresServer
from support.postgres_troubles import PostgresTroubles

from hierbandits.service.doctor import doctor

LEAST = 2  # times of each trouble


def main(seconds: float) -> dict[str, int]:
    """Counts of what went wrong and was found again; anything lost or doubled is an error."""
    end, rounds = time.monotonic() + seconds, 0
    postgres = PostgresServer()
    with TemporaryDirectory() as folder:
        own = PostgresTroubles(postgres, Path(folder), seed=time.time_ns(), largest=200)
        kinds = (own.kill_a_worker, own.cut_all, own.restart, own.block_a_worker)
        try:
            while time.monotonic() < end or rounds < LEAST:
                for trouble in kinds:
                    trouble(longest=1.0)
                    own.service.counts[f"times: {trouble.__name__.replace('_', ' ')}"] += 1
                faults = doctor(Path(folder) / "none", store=own.url).faults
                assert faults == [], faults
                rounds += 1
        finally:
            own.close()
            postgres.close()
    return dict(own.service.counts)
