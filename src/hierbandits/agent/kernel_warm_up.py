"""All kernels compiled, or loaded from the disk, before the first request."""

import gc
from collections.abc import Iterator
from functools import partial
from itertools import count, product
from typing import Any

import numpy as np

from hierbandits.agent.agent import Agent
from hierbandits.checks import real_array
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.gamma_hierarchy import GammaHierarchy
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.reward_families import FAMILIES
from hierbandits.models.unknown_widths import COMMON_ARMS, UnknownWidths
from hierbandits.models.variants import as_given
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe

FEW = 3
"""The number of arms, of features and of tasks of what is played."""

MOST_DIMS = 3
"""The most dimensions of an array that is checked: of the state of nodes."""


def warm_up() -> None:
    """Compile all that agents and policies call, or load it from the disk: no later call does so.

    All objects of the process are then set aside (`gc.freeze`): Python's collector would else
    visit them in the middle of some call, for a tenth of a second.  Call it when a process
    starts, before it reports that it is ready.
    """
    for dims in range(MOST_DIMS + 1):
        real_array("zeros", np.zeros((1,) * dims), (1,) * dims)
    for prior, recipe in _played():
        _act(recipe(prior, num_tasks=FEW))
        table = None if prior.is_armed else _table(prior.dim)
        _live(Agent(prior, recipe, arms=table, seed=0, clock=partial(next, count(0.0))))
    gc.collect()
    gc.freeze()


def _played() -> Iterator[tuple[Model, Recipe]]:
    """Every rule on every form of nodes, every family of rewards, and every way to fit widths.

    Other models, deeper ones say, are in one of these forms, and other policies have these rules.
    """
    armed = GaussianHierarchy.armed(FEW, hyper_std=1.0, task_std=0.5, noise_std=0.5)
    linear = GaussianHierarchy.linear(FEW, hyper_std=1.0, task_std=0.5, noise_std=0.5)
    full = np.eye(FEW) + 0.1 * np.outer(np.arange(FEW), np.arange(FEW))
    correlated = armed.with_levels(armed.hyper_mean, [full, full])
    in_common = armed.with_levels(armed.hyper_mean, [full, np.diag(armed.task_cov) + 0.1])
    recipes = [recipe for recipe in POLICIES.values() if recipe.believe is as_given]
    yield from product((armed, linear, correlated, in_common), recipes)
    for prior, family in product((armed, linear, correlated), FAMILIES):
        yield GeneralizedHierarchy(prior, family), POLICIES[USUAL]
    yield from product((BetaHierarchy(FEW), GammaHierarchy(FEW)), recipes)
    for number, is_armed in ((FEW, False), (FEW, True), (COMMON_ARMS + 1, True)):
        yield UnknownWidths.of(number, armed=is_armed), POLICIES[USUAL]


def _table(dim: int) -> Any:
    return np.random.default_rng(0).normal(size=(FEW, dim))


def _act(policy: Policy) -> None:
    """Rounds of a policy, with arms in all forms in which they can be given."""
    belief, rng = policy.belief, np.random.default_rng(0)
    tasks, ones = np.arange(FEW), np.ones(FEW)
    table = np.arange(FEW) if belief.is_armed else _table(belief.dim)
    for arms in (table[None].repeat(FEW, 0), table):
        for eligible in (None, np.arange(FEW) > 0):
            policy.act(rng, tasks, arms, eligible)
            policy.act_with_propensities(rng, tasks, arms, eligible, draws=4, floor=0.1)
    policy.act(rng, tasks, [table[: n + 1] for n in range(FEW)])
    policy.learn(tasks, table, ones)
    policy.predict(tasks, table)
    belief.observe(tasks, table, ones)
    belief.sample(rng, tasks)
    belief.sample(rng, tasks, fresh=True)


def _live(agent: Agent) -> None:
    """The life of an agent."""
    is_armed, tasks = agent.prior.is_armed, range(FEW)
    for number in range(8 * FEW):  # until widths have been looked at, and families refitted
        made = agent.decide(number % FEW, None if is_armed else _table(agent.prior.dim))
        agent.reward(made.id, float(number % 2))
    agent.correct(made.id, 0.0)
    agent.decide(0, best=True)
    agent.expire(0.0, default=0.0)
    agent.reward_many([made.id for made in agent.decide_many(tasks)], np.ones(FEW))
    agent.learn(tasks, np.arange(FEW) if is_armed else _table(agent.prior.dim), np.ones(FEW))
    agent.forget(0)
    agent.summary()
