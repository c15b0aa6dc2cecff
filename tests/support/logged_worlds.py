"""Policies that have played in worlds of known mean rewards, with their ledgers."""

import numpy as np

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.evaluation_process import Order
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.wire import DecisionRequest
from support.service_lives import Core

ARMS = ["x", "y", "z"]
EXPLORING = PolicySettings(arms=ARMS, rule="HierTS", floor=0.5, draws=20)


def sure_of(arm, arms=3, confidence=1e-6):
    """A prior that is sure that one arm is better than all others, whatever it sees."""
    mean = np.zeros(arms)
    mean[arm] = 100.0
    widths = {"hyper_std": confidence, "task_std": confidence}
    return model_to_dict(
        GaussianHierarchy.armed(arms, hyper_mean=mean, noise_std=1e6, **widths)
    )  # fmt: skip


class LoggedWorld:
    """Twenty tasks whose mean rewards are drawn; a policy plays them round by round."""

    def __init__(self, folder, seed=0, settings=EXPLORING, rounds=60, tasks=20):
        folder.mkdir(parents=True)
        self.folder, self._rng = folder, np.random.default_rng(seed)
        self.means = self._rng.normal([0.5, 0.2, -0.1], 0.4, (tasks, 3))
        self.core = Core(folder / "ledger.db", settings, seed=seed)
        self.play(rounds)

    def value(self, arm):
        """The mean reward of always playing an arm."""
        return float(self.means[:, arm].mean())

    def play(self, rounds, **parts):
        """Rounds of decisions, and their rewards."""
        for _ in range(rounds):
            asked = [DecisionRequest(f"t{i}", **parts) for i in range(len(self.means))]
            made = self.core.live.decide(asked)
            self.core.live.reward([(one.id, self.reward(i, one.arm))
                                   for i, one in enumerate(made)])  # fmt: skip
        self.core.store()

    def reward(self, task, arm):
        """A reward of an arm in a task."""
        return float(self.means[task, ARMS.index(arm)] + 0.3 * self._rng.normal())

    def order(self, scratch, settings=None, confidence=0.95, **changes):
        """What is asked of the process of an evaluation."""
        scratch.mkdir(exist_ok=True)
        settings = settings or self.core.live.settings
        parts = {name: getattr(settings, name) for name in settings.__struct_fields__} | changes
        return Order(str(self.folder), "shop", PolicySettings(**parts), confidence, str(scratch))

    def close(self):
        self.core.storage.close()
