"""The package on the workload: in rounds through its batched calls, and one event at a time."""

import time

import numpy as np

import hierbandits as hb
from bench.workload import ROUND, Workload


class Batched:
    """A policy through `act` and `learn`, a round of events at a time."""

    def __init__(self, workload: Workload, policy: str = "HierTS") -> None:
        self.workload = workload
        self.policy = hb.POLICIES[policy](workload.prior, num_tasks=workload.num_tasks)
        self.rng = np.random.default_rng(0)
        self.rounds = workload.rounds()
        self.act_seconds = self.learn_seconds = 0.0
        self.step()  # compiles or loads the kernels, which is not to be counted
        self.act_seconds = self.learn_seconds = 0.0

    @property
    def act_share(self) -> float:
        """The part of the time so far that `act` took."""
        return self.act_seconds / (self.act_seconds + self.learn_seconds)

    def step(self) -> float:
        """One round and its seconds; to look up the chosen arms' features is part of learning."""
        tasks, noise = next(self.rounds)
        start = time.perf_counter()
        choices = self.policy.act(self.rng, tasks, self.workload.arms)
        acted = time.perf_counter()
        rewards = self.workload.means[tasks, choices] + noise
        rewarded = time.perf_counter()
        self.policy.learn(tasks, self.workload.arms.take(choices, axis=0), rewards)
        learned = time.perf_counter()
        self.act_seconds += acted - start
        self.learn_seconds += learned - rewarded
        return (acted - start) + (learned - rewarded)

    def microseconds(self, seconds: float) -> float:
        """Microseconds per event over rounds that take `seconds`, after one that warms up."""
        self.step()
        spent, rounds = 0.0, 0
        while spent < seconds:
            spent += self.step()
            rounds += 1
        return 1e6 * spent / (rounds * ROUND)


class OurAgent:
    """hierbandits: an Agent, by decide and reward, every task met and rewarded once before."""

    def __init__(self, workload: Workload) -> None:
        # As the peers: Thompson sampling, and told its arms once.
        self.agent = hb.Agent(workload.prior, "HierTS", arms=workload.arms, seed=0)
        met = self.agent.decide_many(range(workload.num_tasks))
        self.agent.reward_many([decision.id for decision in met], workload.means[:, 0])
        self.latest = self.agent.decide(0)

    def decide(self, task: int) -> int:
        self.latest = self.agent.decide(task)
        return int(self.latest.arm)

    def observe(self, task: int, arm: int, reward: float) -> None:
        self.agent.reward(self.latest.id, reward)
