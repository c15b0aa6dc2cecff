"""Priors, arms and a clock for the tests of agents, and all of an agent's state to compare."""

import numpy as np

from hierbandits import GaussianHierarchy
from support.states import belief_state

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
    """All that an agent knows and remembers; a look at widths is ended."""
    own = agent._state
    forced = own.policy.forced
    return (
        belief_state(own.belief),
        *((ledger_parts(part)) for part in (own.ledger.pending, own.ledger.settled)),
        own.roster.state(),
        {name: values.tolist() for name, values in own.totals().state().items()},
        (own.catalogue.names, own.catalogue.retired, own.ledger.remember, own.num_events),
        (own.ledger.num_added, own.ledger.latest, own.ledger.lag, own.num_rewards),
        [entry.place for entry in (*own.ledger.pending.values(), *own.ledger.settled.values())],
        own.prior.to_dict(),
        None if forced is None else np.trim_zeros(forced.decided, "b").tolist(),
        (agent._decider.rng.bit_generator.state, agent._decider.stock.left().tolist()),
    )


def ledger_parts(entries):
    """All that a ledger says of some decisions."""
    return [
        (
            tuple(e.decision),
            e.member.task,
            np.asarray(e.row).tolist(),
            e.reward,
            e.settled,
            e.provisional,
            e.lag,
        )
        for e in entries.values()
    ]
