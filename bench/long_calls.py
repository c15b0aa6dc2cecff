"""The longest call of an agent whose widths are unknown, and the most memory that it holds.

`python -m bench.long_calls` prints both in seconds; it is a part of `make bench`.
"""

import time
import tracemalloc
from dataclasses import dataclass

import numpy as np

import hierbandits as hb
from hierbandits.types import Vector

DIM = 16  # features


@dataclass(frozen=True, slots=True)
class LongCalls:
    """Thread time of the longest `decide` and `reward`, and the most memory at any time."""

    num_tasks: int
    events: int
    milliseconds: float
    gigabytes: float


def long_calls(num_tasks: int, events: int) -> LongCalls:
    """Let agents decide and learn, one event at a time, in tasks at random."""
    hb.warm_up()
    # A call that is long in both of two same lives is long by itself.
    longest = np.minimum(_life(num_tasks, events)[0], _life(num_tasks, events)[0]).max()
    tracemalloc.start()
    _, untraced = _life(num_tasks, max(events // 4, num_tasks))
    peak = tracemalloc.get_traced_memory()[1] + 2 * untraced  # a look builds a second belief
    tracemalloc.stop()
    return LongCalls(num_tasks, events, float(longest) / 1e6, peak / 1e9)


def _life(num_tasks: int, events: int) -> tuple[Vector, int]:
    """The nanoseconds of thread time of each call, and the bytes of the belief at the end."""
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(10, DIM))
    agent = hb.Agent(num_features=DIM, seed=0)
    theta = rng.normal(size=DIM) + 0.3 * rng.normal(size=(num_tasks, DIM))
    tasks, noise = rng.integers(num_tasks, size=events), rng.normal(size=events)
    took = []
    for event, task in enumerate(tasks.tolist()):
        start = time.thread_time_ns()
        decision = agent.decide(task, arms)
        took.append(time.thread_time_ns() - start)
        value = float(np.array(decision.features) @ theta[task] + noise[event])
        start = time.thread_time_ns()
        agent.reward(decision.id, value)
        took.append(time.thread_time_ns() - start)
    assert isinstance(agent.belief, hb.Belief)
    return np.array(took, np.float64), agent.belief.nbytes


if __name__ == "__main__":
    print(long_calls(20_000, 100_000))
