"""A start on trial where rewards are of a family: worlds that its log allows, and who plays."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.keyed_random import seed_words
from hierbandits.learning.family_steps import FamilySteps
from hierbandits.learning.family_worlds import FamilyWorlds
from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.players import Player
from hierbandits.learning.start_trial import (
    BEST_ARM,
    LEAST_RUNS,
    MOST_ROUNDS,
    NEW,
    OWN,
    PLAYERS,
    SETS,
    START,
    TASKS,
    first_set,
    jittered,
)
from hierbandits.logs import Start
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.variants import marginal, pooled
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import POLICIES, USUAL
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import thompson
from hierbandits.types import Indices, Matrix

if TYPE_CHECKING:
    from hierbandits.fitting import Fit


class FamilyTrial:
    """Simulates a start, and others beside it, given all that its log says; see `StartTrial`.

    Widths are off by their errors, then mu and the tasks are drawn given them and the log.  The
    log's own tasks act only where the start knows them.
    """

    players = PLAYERS[:-1]  # without the agent that starts with nothing

    def __init__(
        self,
        start: Start,
        fit: "Fit",
        prior: GeneralizedHierarchy,
        steps: FamilySteps,
        offers: LogOffers | None,
        *,
        horizon: int | None,
        runs: int,
        seed: int,
    ) -> None:
        self.runs, self.offers, self.seed = runs, offers, seed
        self._steps, self._prior, self._family = steps, prior, steps.family
        self._learned = GeneralizedHierarchy(fit.prior, steps.family)
        self._sums, self._knows_tasks = start.record(), len(start.tasks) > 0
        counts = steps.gathered.total().n
        self.horizon = min(int(np.median(counts[counts > 0])), MOST_ROUNDS)
        if horizon is not None:
            self.horizon = horizon
        rng = np.random.default_rng(seed_words(seed, 3))
        seen = np.flatnonzero(counts > 0) if self._knows_tasks else np.empty(0, np.intp)
        self._own = np.sort(rng.permutation(seen)[:TASKS])
        theta, played = self._drawn(rng, fit), None
        if offers is None:
            told = np.flatnonzero(steps.gathered.total().xx.any(axis=0))
            played = told if told.size < prior.dim else None
        noise, size = np.ones(runs), self._own.size
        new, others = first_set(theta[:, size:])
        self._worlds = {NEW: FamilyWorlds(new, noise, offers, seed, played, family=self._family)}
        self._others = FamilyWorlds(
            others, np.ones(len(others)), offers, seed + 1, played, family=self._family
        )
        if size:
            self._worlds[OWN] = FamilyWorlds(
                theta[:, :size], noise, None if offers is None else offers.to(self._own), seed,
                played, family=self._family,
            )  # fmt: skip

    @property
    def num_tasks(self) -> Mapping[str, int]:
        """How many new tasks act, and how many of the log's own, if the start knows them."""
        return {name: worlds.num_tasks for name, worlds in self._worlds.items()}

    def regret(self, tasks: str, policy: str) -> Matrix:
        """The regret of each task so far, (rounds, runs, tasks)."""
        rng = np.random.default_rng(seed_words(self.seed, 4, PLAYERS.index(policy)))
        own = self._own if tasks == OWN else self._own[:0]
        return self._player(policy, own).regret(rng, self._worlds[tasks], self.horizon)

    def others_regret(self) -> Matrix:
        """The regret at the horizon of more new tasks with this start, (runs, more tasks)."""
        rng = np.random.default_rng(seed_words(self.seed, 7))
        belief = MatchedBelief(self._prior, TASKS, self._others.runs)
        nodes = np.arange(self._others.runs * TASKS)
        player = Player(Policy(belief, POLICIES[USUAL].rule), nodes)
        last: Matrix = player.regret(rng, self._others, self.horizon)[-1]
        return last.reshape(self.runs, -1)

    def _drawn(self, rng: Generator, fit: "Fit") -> Matrix:
        """The log's tasks that act, and SETS of new ones, in each world."""
        survey, sites = self._steps.survey, self._steps.sites
        number = min(self.runs, LEAST_RUNS)
        thetas: list[Matrix] = [np.empty(0)] * self.runs
        for first in range(number):
            hierarchy = jittered(rng, fit)
            if survey.num_populations > 1:
                model = GeneralizedHierarchy(hierarchy, self._family)
                belief = MatchedBelief(model, num_tasks=0)
            else:
                belief = sites.match(hierarchy.hyper_mean, hierarchy.covs, survey.population)
            new = belief.add(int(belief.roots[0]), SETS * TASKS)
            for run in range(first, self.runs, number):
                thetas[run] = belief.sample(rng, np.concatenate([self._own, new]))
        return np.stack(thetas)

    def _player(self, policy: str, own: Indices) -> Player:
        """The policy of this name, after the log."""
        if policy == START:
            return self._told(self._before(own), own, POLICIES[USUAL].rule)
        if policy == "HierTS":
            return self._told(self._before(own), own, thompson)
        if policy == "TS":
            return self._told(marginal(self._prior), own, thompson)
        number = own.size or TASKS
        if policy == BEST_ARM:
            return self._as_one(pooled(self._prior), number, greedy, learns=False)
        return self._as_one(self._pooled(), number, thompson)

    def _told(self, model: GeneralizedHierarchy, own: Indices, rule: Rule) -> Player:
        """A policy that has learned the rows of acting tasks alone."""
        number = own.size or TASKS
        belief, nodes = MatchedBelief(model, number, self.runs), np.arange(self.runs * number)
        if own.size:
            belief._raw_learn_past(nodes, self._sums.rows(np.tile(own, self.runs)))
        return Player(Policy(belief, rule), nodes)

    def _as_one(
        self, model: GeneralizedHierarchy, number: int, rule: Rule, *, learns: bool = True
    ) -> Player:
        """A policy that takes all tasks for one."""
        belief = MatchedBelief(model, num_populations=self.runs)
        return Player(Policy(belief, rule), np.repeat(belief.roots, number), learns)

    def _before(self, own: Indices) -> GeneralizedHierarchy:
        """The learned model whose root knows what the log's tasks that do not act say of it."""
        if not own.size:
            return self._prior
        silent = np.delete(np.arange(self._steps.sites.num_tasks), own)
        if not silent.size:
            return self._learned
        some = self._steps.sites.rows(silent)
        belief = some.match(
            self._learned.hyper_mean, self._learned.covs, np.zeros(silent.size, np.intp)
        )
        return self._after(self._learned, belief)

    def _pooled(self) -> GeneralizedHierarchy:
        """One parameter for all tasks, after the log."""
        model = pooled(self._learned)
        if self._steps.survey.num_populations > 1:
            return model
        sites = self._steps.sites.rows(np.arange(self._steps.sites.num_tasks))
        belief = sites.match(model.hyper_mean, model.covs, self._steps.survey.population)
        return self._after(model, belief)

    def _after(self, model: GeneralizedHierarchy, belief: MatchedBelief) -> GeneralizedHierarchy:
        root = belief.hyper(0)
        cov = np.diagonal(root.cov).copy() if model.is_diagonal else root.cov
        return model.with_levels(root.mean, [cov, *model.covs[1:]])
