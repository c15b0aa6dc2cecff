"""Agents that start from a log: what its sums say is learned as if the agent had seen it."""

import numpy as np
import pytest
from support.adaptive import TASKS, D, drawn_events

from hierbandits import Agent, Belief, GaussianHierarchy, TaskSums


def test_an_agent_starts_from_what_a_log_says():
    tasks, features, rewards = drawn_events(15, 300, True)
    sums = TaskSums.zeros(TASKS, D, armed=True)
    sums.add(tasks, features, rewards)
    names = [f"store-{s}" for s in range(TASKS)]
    prior = GaussianHierarchy.armed(D, hyper_std=1.0, task_std=0.4, noise_std=0.7)
    right = Belief(prior, TASKS)
    right.observe(tasks, features, rewards)
    agent = Agent(prior, seed=0)
    agent.learn_past(names, sums)
    for s, name in enumerate(names):
        np.testing.assert_allclose(
            agent.belief.task(agent.node(name)).mean, right.task(s).mean, rtol=1e-9
        )
    swapped = Agent(prior, arms=["a", "b", "c"], seed=0)
    rows = TaskSums(sums.xx[:, [2, 0, 1]], sums.xy[:, [2, 0, 1]], sums.yy, sums.n)
    swapped.learn_past(names, rows, ["c", "a", "b"])
    wider = Agent(
        GaussianHierarchy.armed(4, hyper_std=1.0, task_std=0.4, noise_std=0.7), arms=list("abxc")
    )
    wider.learn_past(names, sums, ["a", "b", "c"])
    for s, name in enumerate(names):
        mean = right.task(s).mean
        np.testing.assert_allclose(swapped.belief.task(swapped.node(name)).mean, mean, rtol=1e-9)
        known = wider.belief.task(wider.node(name)).mean
        np.testing.assert_allclose(known, [*mean[:2], 0.0, mean[2]], rtol=1e-9)
    for arms, message in (
        (["a", "b", "z"], "arms must be arms of this agent"),
        (["a", "b"], r"arms must name each arm of sums, whose shape is \(5, 3\), got"),
        (["a", "a", "b"], "arms must be distinct"),
    ):
        with pytest.raises(ValueError, match=message):
            Agent(prior, arms=["a", "b", "c"]).learn_past(names, sums, arms)
    for policy in ("TS", "PooledTS", "HierUCB"):
        other = Agent(prior, policy, seed=0)
        other.learn_past(names, sums)
        assert other.belief.num_rewards.sum() == 300
    adaptive = Agent(arms=["a", "b", "c"], seed=0)
    adaptive.learn_past(names, sums)
    assert adaptive.belief.num_rewards.sum() == 300
    adaptive.reward(adaptive.decide("store-new").id, 1.0)
    with pytest.raises(ValueError, match="before all rewards, got 301 earlier"):
        adaptive.learn_past(["store-other"], sums.rows(np.array([0])))
    with pytest.raises(ValueError, match="sums must hold 2 tasks with 3 arms"):
        Agent(prior).learn_past(["x", "y"], sums)
    with pytest.raises(ValueError, match="tasks must be different"):
        Agent(prior).learn_past(["x"] * TASKS, sums)
    with pytest.raises(ValueError, match=r"sums\.yy must be sums of n squares"):
        Agent(prior).learn_past(names, TaskSums(sums.xx, sums.xy, -sums.yy, sums.n))
    large = TaskSums(np.full((1, 1, 1), 4e120), np.zeros((1, 1)), np.zeros(1), np.ones(1))
    with pytest.raises(
        ValueError, match=r"sums\.xx must be sums of n squares, each at most 1e\+60 squared"
    ):
        Agent(num_features=1).learn_past(["x"], large)
    assert Agent(prior).tasks == []
