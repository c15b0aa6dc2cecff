"""Rewards of the same decisions, in order, shuffled, late or after they were given up."""

import numpy as np

from support.served_truth import ARMS, posterior
from support.service_desk import Desk

WAIT = 60.0


async def with_decisions(folder, number, rng, **settings):
    """A policy with so many decisions, made in rounds, and a value for each of them."""
    desk = await Desk(folder).create(**settings)
    values, size = {}, 200
    for first in range(0, number, size):
        ids = [f"given-{place}" for place in range(first, min(first + size, number))]
        tasks = [f"task-{rng.integers(12)}" for _ in ids]
        await desk.decide_round(ids, tasks)
        values |= dict(zip(ids, rng.normal(size=len(ids)).tolist(), strict=True))
    return desk, values


async def rewarded(desk, values, ids, size=100):
    """Reward these decisions in this order; all must be new."""
    for first in range(0, len(ids), size):
        rows = [(id, values[id]) for id in ids[first : first + size]]
        said = await desk.call("reward", rows)
        assert {one.status for one in said} == {"learned"}


def check_posterior(desk, values):
    """The belief is that of all these rewards, each once, to 1e-9; by the paper's equations."""
    tasks = desk.live.agent.tasks
    shape = len(tasks), len(ARMS)
    counts, sums = np.zeros(shape), np.zeros(shape)
    for id, value in values.items():
        found = desk.live.view.decision(id)
        assert (found["reward"], found["provisional"]) == (value, False)
        where = tasks.index(found["task"]), ARMS.index(found["arm"])
        counts[where] += 1
        sums[where] += value
    means, variances = posterior(counts, sums)
    table = desk.live.agent.table()
    np.testing.assert_array_equal(np.reshape(table["rewards"], shape), counts)
    np.testing.assert_allclose(np.reshape(table["mean"], shape), means, rtol=0, atol=1e-9)
    found = np.add(table["within_var"], table["shared_var"]).reshape(shape)
    np.testing.assert_allclose(found, variances, rtol=0, atol=1e-9)
