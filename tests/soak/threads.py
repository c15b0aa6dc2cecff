"""Eight threads that share an agent, of every kind and with every policy."""

import tempfile
import time
from pathlib import Path

from support.shared_agents import KINDS, Shared, able, turns


def main(seconds):
    """Mixed calls of eight threads until the time is over; every journal is replayed."""
    counts = {"agents that eight threads shared": 0, "calls": 0, "events in their journals": 0}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while True:
            for kind in KINDS:
                for policy in able(kind):
                    shared = Shared(kind, policy, Path(folder))
                    shared.use(8, turns(60))
                    shared.check()
                    counts["agents that eight threads shared"] += 1
                    counts["calls"] += shared.calls
                    counts["events in their journals"] += len(shared.events)
                    if time.monotonic() > end:
                        return counts
