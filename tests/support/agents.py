"""Priors, arms and a clock for the tests of agents, and all of an agent's state to compare."""

import numpy as np

from hierbandits import GaussianHierarchy

ARMED = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.3, noise_std=0.5)
LINEAR = GaussianHierarchy(
    hyper_mean=[0.1, -0.2],
    hyper_cov=[[1.0, 0.3], [0.3, 0.8]],
    task_cov=[[0.3, 0.1], [0.1, 0.2]],
    noise_std=0.5,
)
DEEP = GaussianHierarchy.deep(
    hyper_mean=[0.0, 0.0], covs=[np.eye(2), 0.5 * np.eye(2), 0.2 * np.eye(2)], noise_std=0.5
)
ARMS = {"low": [1.0, 0.0], "mid": [0.7, 0.7], "high": [0.0, 1.0]}


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def state(agent):
    _, arrays = agent.belief.state()
    return (
        {name: array.tobytes() for name, array in arrays.items()},
        [(d.id, d.task, d.arm) for d in agent.pending],
        repr(agent),
        agent._rng.bit_generator.state,
    )
