"""`python -m bench.rule_costs`: what the default rule costs beside HierTS, by the number of arms.

Two agents with the same prior play the same world, a block of decisions and their rewards in turn.
Blocks of the second half count, when both have settled; the least of them each.
"""

import argparse
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import hierbandits as hb
from bench.tables import Table

TASKS, NOISE, BLOCK, SEED = 50, 0.5, 250, 0
ARMS = (5, 10, 20, 50, 100, 200)
FEATURES = ((2, 20), (5, 20), (16, 30), (10, 100))  # and arms


@dataclass(slots=True)
class World:
    """Agents in tasks that differ a little; an event is a decision and its reward."""

    means: NDArray[np.float64]  # (tasks, arms)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))

    def microseconds(self, agent: hb.Agent, events: int) -> float:
        """Of processor time for an event."""
        tasks = self.rng.integers(TASKS, size=events).tolist()
        luck, means = (NOISE * self.rng.normal(size=events)).tolist(), self.means.item
        start = time.thread_time()
        for task, noise in zip(tasks, luck, strict=True):
            decision = agent.decide(task)
            agent.reward(decision.id, means(task, int(decision.arm)) + noise)
        return 1e6 * (time.thread_time() - start) / events


def costs(num_arms: int, num_features: int | None, events: int, *, known: bool) -> list[float]:
    """Microseconds of the default rule and of HierTS."""
    rng = np.random.default_rng([SEED, num_arms, num_features or 0])
    dim = num_features or num_arms
    make = hb.GaussianHierarchy.linear if num_features else hb.GaussianHierarchy.armed
    prior = make(dim, hyper_std=1.0, task_std=0.3, noise_std=NOISE)
    theta = rng.normal(size=dim) + 0.3 * rng.normal(size=(TASKS, dim))
    rows = rng.normal(size=(num_arms, dim)) if num_features else np.eye(num_arms)
    arms = {i: rows[i] for i in range(num_arms)} if num_features else list(range(num_arms))
    agents = [
        hb.Agent(prior if known else None, policy, arms=arms, seed=SEED)
        for policy in (None, "HierTS" if known else "AdaptiveHierTS")
    ]
    world = World(theta @ rows.T)
    blocks = [
        [world.microseconds(agent, BLOCK) for agent in agents] for _ in range(events // BLOCK)
    ]
    return [min(each) for each in zip(*blocks[len(blocks) // 2 :], strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=6000, help="decisions and rewards of each")
    events = parser.parse_args().events
    rows = []
    for known in (True, False):
        for num_features, num_arms in [(None, number) for number in ARMS] + list(FEATURES):
            ours, theirs = costs(num_arms, num_features, events, known=known)
            form = f"{num_arms} arms" + (f", d = {num_features}" if num_features else "")
            row = [form, "known" if known else "unknown", f"{ours:.1f}", f"{theirs:.1f}"]
            rows.append([*row, f"{ours / theirs:.2f}"])
            print(*rows[-1], sep=" | ", flush=True)
    columns = ["form", "widths", "default, µs", "HierTS, µs", "ratio"]
    print("\n" + Table("", columns, rows, ["form", "widths"]).markdown())


if __name__ == "__main__":
    main()
