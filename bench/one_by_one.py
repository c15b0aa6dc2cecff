"""A learner on the workload, one event at a time."""

import time

from bench.peers import Peer
from bench.workload import Workload


class OneByOne:
    """Drives one learner: a decision, its reward, the next decision."""

    def __init__(self, learner: Peer, workload: Workload) -> None:
        self.learner = learner
        self.means = workload.means
        self.events = workload.events()

    def microseconds(self, seconds: float) -> float:
        """Microseconds per event over the next `seconds`, after a quarter as long to warm up."""
        self._play(seconds / 4)
        return self._play(seconds)

    def _play(self, seconds: float) -> float:
        learner, mean = self.learner, self.means.item
        count = 0
        start = time.perf_counter()
        for task, noise in self.events:
            arm = learner.decide(task)
            learner.observe(task, arm, mean(task, arm) + noise)
            count += 1
            elapsed = time.perf_counter() - start
            if elapsed >= seconds:
                break
        return 1e6 * elapsed / count
