"""How long a start takes when the ledger holds a million rewards.

PYTHONPATH=tests python -m tests.soak service_restart
"""

import os
import time
from pathlib import Path
from signal import SIGTERM
from tempfile import TemporaryDirectory

from support.served_truth import SETTINGS
from support.servers import Server
from support.service_calls import Line
from support.service_desk import NAME, Desk
from support.virtual_loop import run

REWARDS = int(os.environ.get("SOAK_REWARDS", "1000000"))
SECONDS = 10.0
_SIZE = 1000  # rewards in one event
_TASKS = 10_000


def main(seconds: float) -> dict[str, float]:
    """Seconds of a start from the ledger alone, and from a snapshot; 10 are allowed."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        run(_fill(data))
        counts: dict[str, float] = {"rewards in the ledger": REWARDS}
        server = Server(data, timeout=600)
        try:
            for name in ("from the ledger alone", "from a snapshot"):
                start = time.perf_counter()
                server.start()
                line = Line(server.port)
                assert line.get("/ready") == {"status": "ready"}
                counts[f"seconds of a start {name}"] = time.perf_counter() - start
                counts[f"seconds of processor time {name}"] = _processor_time(server.process.pid)
                assert line.get(f"/policies/{NAME}")["rewards"] == REWARDS
                line.close()
                assert server.stop(timeout=300) in (0, -SIGTERM)  # which leaves a snapshot
        finally:
            server.kill()
    slow = {what: took for what, took in counts.items() if "a start" in what and took > SECONDS}
    assert not slow, counts
    return counts


def _processor_time(process):
    """Seconds that a process has computed, as Linux tells it."""
    parts = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


async def _fill(data):
    desk = await Desk(data).create(**SETTINGS | {"draws": 0})
    for first in range(0, REWARDS, _SIZE):
        tasks = [f"task-{(first + place) % _TASKS}" for place in range(_SIZE)]
        made = await desk.decide_round([None] * _SIZE, tasks)
        await desk.call("reward", [(one.id, (place % 7) / 7) for place, one in enumerate(made)])
    desk.ledger.close()
