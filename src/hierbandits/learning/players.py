"""Policies that play in many worlds at once, each after the same log."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.log_worlds import LogWorlds
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import Recipe
from hierbandits.policies.rule import Rule
from hierbandits.types import Indices, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Player:
    """A policy, and its node for each task of each world."""

    policy: Policy
    nodes: Indices  # (runs * tasks,)
    learns: bool = True

    def regret(self, rng: Generator, worlds: LogWorlds, num_rounds: int) -> Matrix:
        """Play; the regret of each task so far, (rounds, runs, tasks)."""
        total = np.zeros((worlds.runs, worlds.num_tasks))
        curve = np.empty((num_rounds, *total.shape))
        for interaction in range(num_rounds):
            events = worlds.events(interaction)
            arms = worlds.offer(events)
            choices = self.policy._raw_choose(rng, self.nodes, arms)
            rewards, regret = worlds.play(events, arms, choices)
            if self.learns:
                self.policy.belief._raw_observe(self.nodes, arms.features(choices), rewards)
                self.policy.belief._raw_settle()
            total += regret.reshape(total.shape)
            curve[interaction] = total
        return curve


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Who acts in how many worlds: tasks of the log, or as many new ones, after the whole log."""

    sums: TaskSums  # of the whole log
    own: Indices  # the log's tasks that act; none if new ones do
    num_tasks: int  # that act
    runs: int

    def after_log(self, hierarchy: GaussianHierarchy, rule: Rule) -> Player:
        """A policy that believes in a hierarchy and has learned the log.

        Tasks that do not act are in what its root knows.
        """
        silent = np.delete(np.arange(len(self.sums.n)), self.own)
        return self.told(after_sums(hierarchy, self.sums.rows(silent)), rule)

    def told(self, hierarchy: GaussianHierarchy, rule: Rule) -> Player:
        """A policy that believes in a hierarchy and has learned the rows of acting tasks alone."""
        belief = Belief(hierarchy, self.num_tasks, self.runs)
        nodes = np.arange(self.runs * self.num_tasks)
        if self.own.size:
            belief._raw_learn_past(nodes, self.sums.rows(np.tile(self.own, self.runs)))
        return Player(Policy(belief, rule), nodes)

    def from_start(self, prior: Model, recipe: Recipe) -> Player:
        """What `hb.Agent` does that is given a start of this prior and the log."""
        known, size = len(self.sums.n), len(self.sums.n)
        size += 0 if self.own.size else self.num_tasks
        policy = recipe(prior, size, self.runs)
        nodes = size * np.arange(self.runs)[:, None] + np.arange(size)  # (runs, tasks)
        tiled = self.sums.rows(np.tile(np.arange(known), self.runs))
        policy.belief._raw_learn_past(nodes[:, :known].ravel(), tiled)
        acting = self.own if self.own.size else np.arange(known, size)
        return Player(policy, nodes[:, acting].ravel())

    def from_nothing(self, prior: Model, recipe: Recipe) -> Player:
        """What `hb.Agent` does that is given no log, only the form of the arms."""
        policy = recipe(prior, self.num_tasks, self.runs)
        return Player(policy, np.arange(self.runs * self.num_tasks))

    def as_one(self, hierarchy: GaussianHierarchy, rule: Rule, *, learns: bool = True) -> Player:
        """A policy that takes all tasks for one, with a hierarchy of one level."""
        belief = Belief(hierarchy, num_populations=self.runs)
        return Player(Policy(belief, rule), np.repeat(belief.roots, self.num_tasks), learns)


def after_sums(hierarchy: GaussianHierarchy, sums: TaskSums) -> GaussianHierarchy:
    """The hierarchy whose root knows what the tasks of these sums say of it."""
    if not sums.n.any():
        return hierarchy
    one = np.zeros(len(sums.n), np.intp)
    root = Belief.from_sums(hierarchy, sums, population=one).hyper(0)
    cov = np.diagonal(root.cov).copy() if hierarchy.is_diagonal else root.cov
    return hierarchy.with_levels(root.mean, [cov, *hierarchy.covs[1:]])
