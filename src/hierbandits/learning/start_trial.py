"""A start on trial: worlds that its log allows, and who plays in them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.hierarchy_draws import draw_hierarchies
from hierbandits.beliefs.model_kinds import belief_after
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import work_of_task
from hierbandits.fitting import fit_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.keyed_random import seed_words
from hierbandits.learning.arm_spread import ArmSpread
from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.log_worlds import LogWorlds, drawn_tasks
from hierbandits.learning.players import Player, Scene, after_sums
from hierbandits.logs import Start
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.models.variants import marginal, pooled
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.recipes import POLICIES, USUAL
from hierbandits.policies.thompson_rule import thompson
from hierbandits.types import Matrix

if TYPE_CHECKING:
    from hierbandits.fitting import Fit

START, NOTHING, BEST_ARM = "this start", "no log", "best single arm"
PLAYERS = (START, "HierTS", "TS", "PooledTS", BEST_ARM, NOTHING)
NEW, OWN = "new", "own"
TASKS, MOST_ROUNDS = 20, 100

SETS = 4
"""Sets of new tasks that act with the start in each world, where there is time for all of them."""

LEAST_RUNS = 20
MOST_WORK = 800_000.0
"""The work of each look at the widths that agents take while they act, over all worlds.

Where it would be more, there are fewer worlds.  Where LEAST_RUNS of them would take ten times as
much, the start is simulated with the widths of its log, and who starts with nothing is left out.
"""

LEAST_SHARE = 0.005  # of the worlds, for which a part in common is fitted

MOST_SUMS = 3_000_000
"""Numbers in the sums that worlds are drawn from: where there are more, worlds share widths."""


class StartTrial:
    """Simulates a start, and others beside it, given all that its log says.

    TASKS new tasks act, or as many of the log's own, once in every round.  Worlds are drawn given
    the log: widths and noise first, then mu and the log's tasks, then new ones.  `prior` is what
    the fit says of new tasks after the log, and `structure` compares forms of widths: a world's are
    as probable as it says.  `offers` is None if armed: then all arms are offered that somebody
    played.  The horizon is, unless given, the rows of a typical task, at most MOST_ROUNDS.
    """

    def __init__(
        self,
        start: Start,
        fit: "Fit",
        prior: GaussianHierarchy,
        structure: StructureChoice | None,
        offers: LogOffers | None,
        *,
        horizon: int | None,
        runs: int,
        seed: int,
    ) -> None:
        self.start, self.sums, self.seed = start, start.record(), seed
        self.learned, self.prior = fit.prior, prior
        self._form = UnknownWidths.of(prior.dim, armed=prior.is_armed)
        seen = np.flatnonzero(self.sums.n > 0)
        if horizon is None:
            typical = int(np.median(self.sums.n[seen])) if seen.size else MOST_ROUNDS
            horizon = min(typical, MOST_ROUNDS)
        self.horizon = horizon
        self.believed, looks = self._believed()
        self.looks = looks and self._is_affordable(len(self.sums.n) + TASKS)
        self.players = PLAYERS if self._is_affordable(TASKS) else PLAYERS[:-1]
        most = MOST_WORK / self._work(TASKS + (len(self.sums.n) if self.looks else 0))
        self.runs = min(runs, max(LEAST_RUNS, int(most)))
        self._sets = max(1, min(SETS, int(SETS * most / self.runs)))
        rng = np.random.default_rng(seed_words(seed, 3))
        own = np.sort(rng.permutation(seen)[:TASKS])
        drawn = self._hierarchies(rng, fit, structure)
        if self.sums.is_armed and seen.size:
            drawn = [ArmSpread.of(each, self.sums).drawn(rng, each) for each in drawn]
        parts = drawn_tasks(rng, drawn, self.sums, own, TASKS * self._sets, self.runs)
        self.offers, played = offers, None
        if self.sums.is_armed and not self.sums.xx.any(axis=0).all():
            played = np.flatnonzero(self.sums.xx.any(axis=0)) if seen.size else None
        self._scenes = {NEW: Scene(self.sums, own[:0], TASKS, self.runs)}
        new, others = first_set(parts[1])
        self._worlds = {NEW: LogWorlds(new, parts[2], offers, seed, played)}
        noises = np.repeat(parts[2], self._sets - 1)
        self._others = LogWorlds(others, noises, offers, seed + 1, played)
        if own.size:
            self._scenes[OWN] = Scene(self.sums, own, own.size, self.runs)
            self._worlds[OWN] = LogWorlds(
                parts[0], parts[2], None if offers is None else offers.to(own), seed, played
            )

    @property
    def num_tasks(self) -> Mapping[str, int]:
        """How many new tasks act, and how many of the log's own, if it has any."""
        return {name: scene.num_tasks for name, scene in self._scenes.items()}

    def regret(self, tasks: str, policy: str) -> Matrix:
        """The regret of each task so far, (rounds, runs, tasks)."""
        rng = np.random.default_rng(seed_words(self.seed, 4, PLAYERS.index(policy)))
        player = self._player(policy, self._scenes[tasks])
        return player.regret(rng, self._worlds[tasks], self.horizon)

    def others_regret(self) -> Matrix:
        """The regret at the horizon of more new tasks with this start, (runs, more tasks)."""
        if self._sets == 1:
            return np.empty((self.runs, 0))
        rng = np.random.default_rng(seed_words(self.seed, 7))
        scene = Scene(self.sums, np.empty(0, np.intp), TASKS, self._others.runs)
        last: Matrix = self._player(START, scene).regret(rng, self._others, self.horizon)[-1]
        return last.reshape(self.runs, -1)

    def _player(self, policy: str, scene: Scene) -> Player:
        """The policy of this name, after the log but for NOTHING."""
        prior = self.start.prior
        recipe = POLICIES[USUAL]
        if policy == START and self.looks:
            return scene.from_start(prior, recipe)
        if policy == START:
            return scene.after_log(self.believed, recipe.rule)
        if policy == "HierTS":
            return scene.after_log(self.learned, thompson)
        if policy == "TS":
            return scene.told(marginal(self.prior), thompson)
        if policy == "PooledTS":
            return scene.as_one(after_sums(pooled(self.learned), self.sums), thompson)
        if policy == BEST_ARM:
            return scene.as_one(pooled(self.prior), greedy, learns=False)
        return scene.from_nothing(self._form, recipe)

    def _believed(self) -> tuple[GaussianHierarchy, bool]:
        """What the start believes of widths, and whether it looks at them again in this time."""
        prior, sums = self.start.prior, self.sums
        if prior.widths_known:
            return self.learned, False
        belief: Any = belief_after(prior, sums, np.zeros(len(sums.n), np.intp))
        return belief.hierarchy(), bool(sums.n.sum() + TASKS * self.horizon >= belief.due[0])

    def _work(self, num_tasks: int) -> int:
        """Of a look at the widths of so many tasks."""
        return num_tasks * work_of_task(self._form)

    def _is_affordable(self, num_tasks: int) -> bool:
        """Whether there is time for looks at so many tasks."""
        return LEAST_RUNS * self._work(num_tasks) <= 10 * MOST_WORK

    def _hierarchies(
        self, rng: Generator, fit: "Fit", structure: StructureChoice | None
    ) -> list[GaussianHierarchy]:
        """Draws of widths and noise, given the log; each form is as probable as `structure` says.

        Were all of the form that fits best, that would be chosen where deviations look small.
        """
        prior, sums = self.start.prior, self.sums
        number = min(self.runs, max(LEAST_RUNS // 2, MOST_SUMS // max(1, sums.xx.size)))
        if isinstance(prior, UnknownWidths):
            fitted, scalar, share = None, 0.0, 1.0
            if not prior.is_diagonal:
                fitted = moving_together(fit.prior)
            if structure is not None:
                scalar, apart, together = shares_of(structure)
                share = together / max(together + apart, 1e-300)
                if prior.is_armed and not prior.is_diagonal and fitted is None:
                    fitted = with_common(sums, prior, together)
            return draw_hierarchies(rng, prior, sums, number, scalar, fitted, share)
        return [jittered(rng, fit) for _ in range(number)]


def first_set(theta: Matrix) -> tuple[Matrix, Matrix]:
    """The first set of new tasks in each world, and all other sets, each as if in its own world.

    `theta` is (runs, sets * TASKS, d); the others are (runs * (sets - 1), TASKS, d).
    """
    return theta[:, :TASKS], theta[:, TASKS:].reshape(-1, TASKS, theta.shape[2])


def shares_of(structure: StructureChoice) -> tuple[float, float, float]:
    """How probable one width for all is, a width for each, and any correlations."""
    shares = structure.probability
    scalar, apart = (shares.get(kind, 0.0) for kind in ("scalar", "diagonal"))
    return scalar, apart, max(1.0 - scalar - apart, 0.0)


def with_common(sums: TaskSums, prior: UnknownWidths, share: float) -> GaussianHierarchy | None:
    """What fits best with a part in common, if that is probable enough to be drawn."""
    if share < LEAST_SHARE or prior.dim == 1:
        return None
    fit = fit_prior(sums, structure="common", noise_std=prior.noise_std, intervals=False)
    return moving_together(fit.prior)


def moving_together(prior: GaussianHierarchy) -> GaussianHierarchy | None:
    """The prior if the arms of its tasks have a part in common; else None."""
    if not prior.is_armed or prior.task_cov.ndim == 1:
        return None
    parts = parts_in_common(prior.task_cov)
    return None if parts is None or parts[1] <= 0 else prior


def jittered(rng: Generator, fit: "Fit") -> GaussianHierarchy:
    """The fit's hierarchy with its task widths off by their errors."""
    prior, error = fit.prior, np.nan_to_num(fit.task_widths.log_error)
    factor = np.exp(error * rng.standard_normal(error.size))
    cov = prior.task_cov * (factor**2 if prior.task_cov.ndim == 1 else np.outer(factor, factor))
    return prior.with_levels(prior.hyper_mean, [prior.hyper_cov, cov])
