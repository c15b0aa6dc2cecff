"""Agents of every policy and form, random lives for them, and what they should know in the end."""

import numpy as np
import pytest

from hierbandits import (
    POLICIES,
    AdaptiveBelief,
    Agent,
    Belief,
    BetaHierarchy,
    GammaHierarchy,
    GaussianHierarchy,
    GeneralizedHierarchy,
    TaskSums,
)
from hierbandits.agent.roster import Roster
from support.agents import DEEP, LINEAR, Clock

UNEVEN = GaussianHierarchy.armed(
    3, hyper_mean=[0.2, -0.1, 0.5], hyper_std=[1.0, 0.5, 2.0], task_std=[0.3, 0.6, 0.4],
    noise_std=0.7,
)  # fmt: skip
DEEP_ARMED = GaussianHierarchy.armed(
    2, hyper_mean=[0.3, -0.2], hyper_std=[1.0, 0.5], group_stds=[[0.4, 0.8]], task_std=[0.3, 0.2],
    noise_std=0.6,
)  # fmt: skip
CORRELATED = GaussianHierarchy.armed(
    3, hyper_mean=[0.2, -0.1, 0.5], hyper_std=[1.0, 0.5, 2.0], noise_std=0.7,
    task_cov=[[0.3, 0.25, 0.1], [0.25, 0.4, 0.2], [0.1, 0.2, 0.2]],
)  # fmt: skip
COMMON = GaussianHierarchy.armed(
    3, hyper_mean=[0.2, 0.1, 0.3], hyper_std=[1.0, 0.5, 2.0], task_std=[0.2, 0.1, 0.3],
    common_std=0.6,
    noise_std=0.7,
)  # fmt: skip
PRIORS = {
    "armed": UNEVEN,
    "linear": LINEAR,
    "deep": DEEP,
    "deep-armed": DEEP_ARMED,
    "correlated": CORRELATED,
    "common": COMMON,
}
FAMILY_PRIORS = {
    "bernoulli": GeneralizedHierarchy(UNEVEN, "bernoulli"),
    "poisson": GeneralizedHierarchy(LINEAR, "poisson"),
}
GRID_PRIORS = {
    "beta": BetaHierarchy(3, hyper_mean=[0.2, -0.1, 0.5], task_std=[0.3, 0.6, 0.4], resolution=16),
    "gamma": GammaHierarchy(3, hyper_std=[0.5, 1.0, 0.7], task_factor=2.0, resolution=16),
}
EVERY_PRIOR = PRIORS | FAMILY_PRIORS | GRID_PRIORS
ARMS = np.array([[1.0, -0.5], [0.3, 0.8], [-0.7, 0.4]])

forms = pytest.mark.parametrize("form", ["armed", "linear", "deep", "common"])
armed_forms = pytest.mark.parametrize("form", ["armed", "deep-armed", "correlated", "common"])
every_policy = pytest.mark.parametrize(
    "policy", [name for name, recipe in POLICIES.items() if not recipe.knows_truth]
)


def first_arms(form):
    prior = EVERY_PRIOR[form]
    return ["a", "b", "c"][: prior.dim] if prior.is_armed else ARMS


def new_agent(form, policy, **options):
    given = {"seed": 0, "clock": Clock()} | options
    return Agent(EVERY_PRIOR[form], policy, arms=first_arms(form), **given)


def as_reward(prior, value):
    """The value, or zero or one in its place where rewards are successes or counts."""
    counts = isinstance(prior, GeneralizedHierarchy | BetaHierarchy | GammaHierarchy)
    return float(value > 0.2) if counts else float(value)


def agent_can_forget(agent):
    """Whether rewards of a task can be told from those of others."""
    nodes = [agent.node(task) for task in agent.tasks]
    adds_up = agent.belief.IS_GAUSSIAN or agent.prior.is_armed
    return adds_up or len(set(nodes)) == len(nodes)


def task_of(form, number):
    """One of eight tasks; in deep forms they are in two groups."""
    return ("north" if number % 2 else "south", number) if "deep" in form else f"t{number}"


def live(agent, form, rng, events=30, name="d", rewarded=0.7):
    """Some decisions, most of them rewarded; returns the rewarded, id to (decision, reward)."""
    history = {}
    for event in range(events):
        made = agent.decide(task_of(form, int(rng.integers(8))), id=f"{name}{event}")
        if rng.random() < rewarded:
            reward = as_reward(agent.prior, rng.normal())
            agent.reward(made.id, reward)
            history[made.id] = made, reward
    return history


def check_knows(agent, history):
    """The agent's belief is that of one who saw these decisions and rewards alone."""
    made = [decision for decision, _ in history.values()]
    rewards = np.array([reward for _, reward in history.values()])
    seen = [decision.features for decision in made]
    state = agent._state
    sums = TaskSums.zeros(len(agent.tasks), agent.prior.dim, armed=agent.prior.is_armed)
    if made:
        sums.add([agent.tasks.index(decision.task) for decision in made], seen, rewards)
    for name, values in state.totals().state().items():
        np.testing.assert_allclose(values, sums.state()[name], rtol=1e-9, atol=1e-9)
    belief, fresh = state.belief, _fresh(state)
    roster = Roster(fresh, state.roster.path_length)
    for task in agent.tasks:
        roster.meet(roster.checked_path(task))
    if made:
        fresh.observe([roster.find(d.task).node for d in made], seen, rewards)
    for task in agent.tasks:
        one, other = belief.task(agent.node(task)), fresh.task(roster.find(task).node)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.cov, other.cov, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(belief.hyper().mean, fresh.hyper().mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(belief.hyper().cov, fresh.hyper().cov, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(belief.log_evidence(), fresh.log_evidence(), rtol=1e-9, atol=1e-9)


def _fresh(state):
    """A belief in the hierarchy that an agent believes in now, before any reward."""
    belief = state.belief
    if isinstance(belief, AdaptiveBelief):
        return Belief(belief.hierarchy())
    return state.recipe(state.prior).belief


def long_life(agent, form, rng, events=25):
    """A life with every kind of event that the agent's form allows."""
    clock, prior = agent._books.clock, agent.prior
    first = agent.decide(task_of(form, 0), id="zero")
    agent.learn([task_of(form, 0)], [first.features], [as_reward(prior, 0.3)])
    live(agent, form, rng, events, name="one")
    clock.now += 100
    live(agent, form, rng, events, name="two")
    agent.expire(50, default=as_reward(prior, 0.1))
    settled = list(agent._state.ledger.settled)
    agent.correct(settled[3], as_reward(prior, 2.5))
    for id in settled[-3:]:
        if agent._state.ledger.settled[id].provisional:
            agent.reward(id, as_reward(prior, -1.0))
    if agent.prior.is_armed:
        agent.add_arm("new", hyper_mean=0.1)
        agent.retire_arm("a")
    tasks = [task_of(form, number) for number in range(6)]
    agent.decide_many(tasks, best=True, ids=[f"best{task}" for task in tasks])
    live(agent, form, rng, events, name="three")
    if agent_can_forget(agent):
        agent.forget(task_of(form, 2))
    waiting = agent.pending[:4]
    values = [as_reward(prior, value) for value in rng.normal(size=len(waiting))]
    agent.reward_many([made.id for made in waiting], values)
    clock.now += 100
    agent.expire(150)
    live(agent, form, rng, events, name="four")
