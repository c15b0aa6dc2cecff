"""The package on the workload: in rounds through its batched calls, and one event at a time."""

import time

import numpy as np

import hierbandits as hb
from bench.workload import ROUND, Matrix, Workload


class Batched:
    """HierTS through `act` and `learn`, a round of events at a time."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.policy = hb.POLICIES["HierTS"](workload.prior, num_tasks=workload.num_tasks)
        self.rng = np.random.default_rng(0)
        self.rounds = workload.rounds()
        self.act_seconds = 0.0
        self.learn_seconds = 0.0
        self.step()  # compiles or loads the kernels

    @property
    def seconds(self) -> float:
        """Time spent in the package so far: not in making rewards."""
        return self.act_seconds + self.learn_seconds

    @property
    def act_share(self) -> float:
        return self.act_seconds / self.seconds

    def step(self) -> None:
        """One round; to look up the features of the chosen arms is part of learning."""
        tasks, noise = next(self.rounds)
        start = time.perf_counter()
        choices = self.policy.act(self.rng, tasks, self.workload.arms)
        acted = time.perf_counter()
        rewards = self.workload.means[tasks, choices] + noise
        rewarded = time.perf_counter()
        self.policy.learn(tasks, self.workload.arms[choices], rewards)
        self.act_seconds += acted - start
        self.learn_seconds += time.perf_counter() - rewarded

    def microseconds(self, num_rounds: int) -> float:
        """Microseconds per event over the next rounds."""
        before = self.seconds
        for _ in range(num_rounds):
            self.step()
        return 1e6 * (self.seconds - before) / (num_rounds * ROUND)


class OurAgent:
    """hierbandits: an Agent, by decide and reward, every task met and rewarded once before."""

    def __init__(self, workload: Workload) -> None:
        self.arms: Matrix = workload.arms
        self.agent = hb.Agent(workload.prior, seed=0)
        met = self.agent.decide_many(range(workload.num_tasks), self.arms)
        self.agent.reward_many([decision.id for decision in met], workload.means[:, 0])
        self.latest = self.agent.decide(0, self.arms)

    def decide(self, task: int) -> int:
        self.latest = self.agent.decide(task, self.arms)
        return int(self.latest.arm)

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.agent.reward(self.latest.id, reward)
