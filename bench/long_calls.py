"""The longest call of an agent whose widths are unknown, and the most memory that it holds.

`python -m bench.long_calls` prints both in seconds; it is a part of `make bench`.
"""

import time
import tracemalloc
from dataclasses import dataclass

import numpy as np

import hierbandits as hb

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
    longest, _ = _longest_call(num_tasks, events)
    tracemalloc.start()
    _, untraced = _longest_call(num_tasks, max(events // 4, num_tasks))
    peak = tracemalloc.get_traced_memory()[1] + 2 * untraced  # a look builds a second belief
    tracemalloc.stop()
    return LongCalls(num_tasks, events, longest / 1e6, peak / 1e9)


def _longest_call(num_tasks: int, events: int) -> tuple[int, int]:
    """The longest call in nanoseconds of thread time, and the bytes of the belief at the end."""
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(10, DIM))
    agent = hb.Agent(num_features=DIM, seed=0)
    theta = rng.normal(size=DIM) + 0.3 * rng.normal(size=(num_tasks, DIM))
    tasks, noise = rng.integers(num_tasks, size=events), rng.normal(size=events)
    longest = 0
    for event, task in enumerate(tasks.tolist()):
        start = time.thread_time_ns()
        decision = agent.decide(task, arms)
        decided = time.thread_time_ns()
        value = float(np.array(decision.features) @ theta[task] + noise[event])
        given = time.thread_time_ns()
        agent.reward(decision.id, value)
        learned = time.thread_time_ns()
        longest = max(longest, decided - start, learned - given)
    assert isinstance(agent.belief, hb.Belief)
    return longest, agent.belief.nbytes


if __name__ == "__main__":
    print(long_calls(20_000, 100_000))
