"""Environments of every kind, small enough for many tests."""

import numpy as np

from hierbandits import GaussianHierarchy
from hierbandits.environments import (
    ActionSets,
    HierarchicalBandit,
    KnownBandit,
    SampledActions,
)
from hierbandits.environments.events import Events
from hierbandits.models import BernoulliRewards, PoissonRewards, RewardFamily

LINEAR = GaussianHierarchy(
    hyper_mean=[0.2, -0.1],
    hyper_cov=[[1.0, 0.2], [0.2, 0.5]],
    task_cov=[[0.1, 0.03], [0.03, 0.2]],
    noise_std=0.5,
)
ARMED = GaussianHierarchy.armed(4, hyper_mean=0.5, hyper_std=0.3, task_std=0.1, noise_std=0.5)
TOGETHER = GaussianHierarchy.armed(
    4, hyper_mean=0.5, hyper_std=0.3, task_std=0.1, common_std=0.4, noise_std=0.5
)
NUM_TASKS = 5


def _linear(actions, **options):
    return HierarchicalBandit(hierarchy=LINEAR, num_tasks=NUM_TASKS, actions=actions, **options)


DRAWN = {
    "linear, arms per run": _linear(ActionSets(6)),
    "linear, arms per task": _linear(ActionSets(6, "ball", 1.0, "task")),
    "linear, arms per round": _linear(ActionSets(6, "ball", 1.0, "round")),
    "linear, box per round, probability": _linear(
        ActionSets(6, per="round"), rewards="linear probability"
    ),
    "linear, arms of a table": _linear(
        SampledActions(np.random.default_rng(4).standard_normal((20, 2)), num_arms=6)
    ),
    "linear, arms per round, poisson family": _linear(
        ActionSets(6, "ball", 1.0, "round"), rewards=PoissonRewards()
    ),
    "armed": HierarchicalBandit(hierarchy=ARMED, num_tasks=NUM_TASKS),
    "armed, bernoulli family": HierarchicalBandit(
        hierarchy=ARMED, num_tasks=NUM_TASKS, rewards=BernoulliRewards()
    ),
    "armed, correlated": HierarchicalBandit(hierarchy=TOGETHER, num_tasks=NUM_TASKS),
    "armed, probability, mu given": HierarchicalBandit(
        hierarchy=ARMED,
        num_tasks=NUM_TASKS,
        rewards="linear probability",
        hyper=np.array([0.2, 0.4, 0.6, 0.8]),
    ),
}
GIVEN = KnownBandit(
    means=np.random.default_rng(3).uniform(size=(NUM_TASKS, 4)), prior=ARMED, rewards="bernoulli"
)
ENVIRONMENTS = DRAWN | {"armed, means given": GIVEN}


def random_events(rng, runs, num_tasks, size=40, first_run=0):
    return Events(
        first_run + rng.integers(0, runs, size),
        rng.integers(0, num_tasks, size),
        rng.integers(0, 9, size),
    )


def arm_values(environment, worlds, events, arms, event, first_run=0):
    """The mean reward of each of one event's arms, (K,), by hand from the truth."""
    task = events.task[event]
    if isinstance(environment, KnownBandit):
        return environment.means[task]
    theta = worlds.theta[events.run[event] - first_run, task]
    rows = arms.table[arms.rows_of(event)]
    values = theta[rows] if environment.hierarchy.is_armed else rows @ theta
    if isinstance(environment.rewards, RewardFamily):
        return environment.rewards.mean(values)
    return np.clip(values, 0, 1) if environment.rewards == "linear probability" else values


def regret_of(environment, worlds, events, arms, event, choice, first_run=0):
    """The regret of one event's choice, by hand; the choice is the number of an arm."""
    values = arm_values(environment, worlds, events, arms, event, first_run)
    place = (arms.rows_of(event) - arms.base[event]).tolist().index(choice)
    return values.max() - values[place]
