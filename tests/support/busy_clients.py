"""Eight clients of a real server for as long as one likes: memory, crashes and freshness."""

import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from support.served_truth import ARMS, SETTINGS
from support.servers import Server
from support.service_calls import Line

CLIENTS = 8
_POLICY = "/policies/shop"


class BusyClients:
    """Each client has a task of its own, so that it knows what must be known of it."""

    def __init__(self, folder):
        self._folder, self.counts = folder, Counter()
        self._failures, self._seconds, self._memory = [], [], []

    def run(self, seconds):
        """Counts, the quantiles of the time until a reward is used, and megabytes of the server."""
        with Server(self._folder) as server:
            line = Line(server.port)
            settings = SETTINGS | {"remember": 1000}
            assert line.call("PUT", _POLICY, settings)[0] == 200
            line.close()
            end = time.monotonic() + seconds
            threads = [
                threading.Thread(target=self._client, args=(server.port, number, end))
                for number in range(CLIENTS)
            ]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(min(0.5, seconds / 10))
                self._memory.append(megabytes(server.process.pid))
            for thread in threads:
                thread.join()
            assert not self._failures, self._failures
            line = Line(server.port)  # the first would be closed for its long silence
            shown = line.get(_POLICY)
            assert (shown["rewards"], shown["pending"]) == (self.counts["rewards"], 0)
            line.close()
        took = np.quantile(self._seconds, [0.5, 0.99]) * 1000
        after = self._memory[len(self._memory) // 4 :]
        return dict(self.counts) | {
            "ms until a reward is used, median": float(took[0]),
            "ms until a reward is used, p99": float(took[1]),
            "MB of the server after a quarter of the time": after[0],
            "MB of the server at the end": after[-1],
        }

    def _client(self, port, number, end):
        line, counts, seconds = Line(port), Counter(), []
        try:
            rng, task = np.random.default_rng(number), f"own-{number}"
            while time.monotonic() < end:
                self._turn(line, task, rng, counts, seconds)
        except BaseException as error:
            self._failures.append(repr(error))
        finally:
            line.close()
            self.counts.update(counts)
            self._seconds += seconds

    def _turn(self, line, task, rng, counts, seconds):
        """A decision, its reward, and a look whether what follows uses it."""
        made = line.post(f"{_POLICY}/decisions", {"task": task})
        path, value = f"{_POLICY}/decisions/{made['id']}/reward", float(rng.normal())
        start = time.perf_counter()
        assert line.post(path, {"value": value})["status"] == "learned"
        seconds.append(time.perf_counter() - start)
        counts["decisions"] += 1
        counts["rewards"] += 1
        counts[made["arm"]] += 1
        if counts["rewards"] % 10 == 0:
            rows = line.get(f"{_POLICY}/tasks/{task}")["rows"]
            assert [one["rewards"] for one in rows] == [counts[arm] for arm in ARMS]


def megabytes(process):
    """The memory of a process that is in use, as Linux tells it."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")
