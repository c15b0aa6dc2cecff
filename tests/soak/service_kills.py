"""kill -9 of the service under load, 200 times and for at least 100,000 acknowledged rewards.

PYTHONPATH=tests python -m tests.soak service_kills
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support.service_kills import KilledService

KILLS = 200
REWARDS = 100_000


def main(seconds: float) -> dict[str, int]:
    """Counts of what was killed and found again; anything lost or doubled is an error."""
    end = time.monotonic() + seconds
    with TemporaryDirectory() as folder:
        service = KilledService(Path(folder) / "data", seed=time.time_ns(), largest=400)
        try:
            while time.monotonic() < end or not _is_enough(service.counts):
                service.round(longest=1.0)
        finally:
            service.close()
    return dict(service.counts)


def _is_enough(counts):
    return counts["kills"] >= KILLS and counts["acknowledged rewards"] >= REWARDS
