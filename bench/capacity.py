"""How large one process can be: `python -m bench.capacity` prints memory and pace by size."""

import argparse
import time
from collections.abc import Callable
from itertools import islice

import hierbandits as hb
from bench.ours import Batched, OurAgent
from bench.workload import ROUND, Workload

DIMS = (2, 8, 32)
TASKS = (1_000, 100_000, 1_000_000)
MOST_AGENT_TASKS = 100_000
MOST_BYTES = 6 * 2**30  # of a belief that is made here; of larger ones the memory is computed


def belief_bytes(dim: int, num_tasks: int) -> float:
    """What a belief holds; bytes grow with tasks, so a large one's follow from a small one's."""
    prior = Workload.of(dim, 1).prior
    small, more = (hb.Belief(prior, num_tasks=number).nbytes for number in (1_000, 11_000))
    return small + (more - small) / 10_000 * (num_tasks - 1_000)


def paces(dim: int, num_tasks: int, seconds: float) -> tuple[float, float | None]:
    """Events in a second of one core, in rounds of 1,000 and, if tasks are not many, one by one."""
    workload = Workload.of(dim, num_tasks)
    batched = Batched(workload)
    rounds = ROUND * _pace(batched.step, seconds)
    if num_tasks > MOST_AGENT_TASKS:
        return rounds, None
    agent, events = OurAgent(workload), workload.events()

    def step() -> None:
        for task, noise in islice(events, ROUND):
            arm = agent.decide(task)
            agent.observe(task, arm, workload.means.item(task, arm) + noise)

    return rounds, ROUND * _pace(step, seconds)


def _pace(step: Callable[[], object], seconds: float) -> float:
    """Steps in a second of processor time, which other work on the machine does not count in."""
    step()
    count, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        step()
        count += 1
    return count / spent


def main() -> None:
    """Print a row for each number of tasks and features."""
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    print("| tasks | d | memory of the belief | events/s in rounds of 1,000 | one at a time |")
    print("|---|---|---|---|---|")
    for num_tasks in TASKS:
        for dim in DIMS:
            held = belief_bytes(dim, num_tasks)
            pace: tuple[float | None, ...] = (None, None)
            if held <= MOST_BYTES:
                pace = paces(dim, num_tasks, options.seconds)
            told = ["not run" if events is None else f"{events:,.0f}" for events in pace]
            size = f"{held / 2**20:,.1f} MiB" if held < 2**30 else f"{held / 2**30:,.2f} GiB"
            print(f"| {num_tasks:,} | {dim} | {size} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
