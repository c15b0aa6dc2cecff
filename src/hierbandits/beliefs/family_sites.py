"""What a log of any family says under hierarchy after hierarchy: its sites, matched each time."""

from collections.abc import Sequence

import numpy as np

from hierbandits.beliefs.folding import fold
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.settled_sites import SettledSites, with_squares
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Features, Indices, Matrix, Vector

SWEEPS, TOLERANCE = 100, 1e-7
"""Sites are matched until no linear predictor moves by more, in standard deviations."""


class FamilySites:
    """The rewards of a log, and the Gaussian sites that stand for them.

    A row is a reward, or a sum of rewards that has the same features.  Under each hierarchy the
    sites are matched by expectation propagation, from where they were under the last one.  Summed
    by task they are the sums of Gaussian rewards of noise 1: all that holds for these holds for
    any family, given the sites.  The log evidence of the rewards is that of these sums, with no
    reward counted, and `log_scale`.

    `bases` are what log densities of each task's single rewards have besides, together, (tasks,);
    where rows are sums it makes the evidence that of single rewards, as every family's is.  Without
    it each row counts as one reward.
    """

    def __init__(
        self,
        family: RewardFamily,
        tasks: Indices,
        features: Features,
        rewards: Vector,
        exposure: Vector,
        *,
        num_tasks: int,
        dim: int,
        bases: Vector | None = None,
    ) -> None:
        order = np.argsort(tasks, kind="stable")
        self.family, self.num_tasks, self.dim = family, num_tasks, dim
        self.tasks: Indices = np.ascontiguousarray(tasks[order])
        self.features: Features = np.ascontiguousarray(features[order])
        self.rewards: Vector = np.ascontiguousarray(rewards[order])
        self.exposure: Vector = np.ascontiguousarray(exposure[order])
        self._sites: Matrix = np.zeros((SITE_PARTS, tasks.size))
        if bases is None:
            each = family.log_base(self.rewards, self.exposure)
            bases = np.bincount(self.tasks, each, num_tasks).astype(float)
        self.bases: Vector = bases
        self.log_base = float(bases.sum())

    @classmethod
    def of_arms(
        cls, family: RewardFamily, sums: TaskSums, bases: Vector | None = None
    ) -> "FamilySites":
        """A row for each arm that a task has played: the sum of its rewards, which tells all."""
        tasks, arms = np.nonzero(sums.xx > 0)
        totals, counts = sums.xy[tasks, arms], sums.xx[tasks, arms]
        num_tasks, dim = sums.xy.shape
        return cls(family, tasks, arms, totals, counts, num_tasks=num_tasks, dim=dim, bases=bases)

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self.features.ndim == 1

    @property
    def sites(self) -> Matrix:
        """The precision, the weighted observation and the log scale of each row's site, (3, n)."""
        return self._sites

    @property
    def log_scale(self) -> float:
        """The logs of the sites' scales, and of what densities have besides, together."""
        return float(self._sites[2].sum()) + self.log_base

    def scaled(self, unit: Vector) -> "FamilySites":
        """The same rewards of features in other units: `unit` of a parameter is one there."""
        features = self.features if self.is_armed else self.features * unit
        return self._with(self.tasks, features, self.bases)

    def rows(self, tasks: Indices) -> "FamilySites":
        """The rewards of some of the tasks, in this order."""
        place = np.full(self.num_tasks, -1)
        place[tasks] = np.arange(tasks.size)
        kept = np.flatnonzero(place[self.tasks] >= 0)
        return self._with(place[self.tasks[kept]], self.features[kept], self.bases[tasks], kept)

    def pooled(self, population: Indices) -> "FamilySites":
        """The same rewards as if all tasks of a population were one."""
        bases = np.bincount(population, self.bases).astype(float)
        return self._with(population[self.tasks], self.features, bases)

    def _with(
        self, tasks: Indices, features: Features, bases: Vector, kept: Indices | None = None
    ) -> "FamilySites":
        which = slice(None) if kept is None else kept
        return FamilySites(
            self.family, tasks, features, self.rewards[which], self.exposure[which],
            num_tasks=bases.size, dim=self.dim, bases=bases,
        )  # fmt: skip

    def match(
        self,
        hyper_mean: Vector,
        covs: Sequence[Matrix],
        population: Indices,
        tolerance: float = TOLERANCE,
    ) -> MatchedBelief:
        """Let all sites match their rewards under a hierarchy; returns what is then known.

        A single covariance makes all tasks of a population one.  `population` is each task's.
        """
        hierarchy = GaussianHierarchy.of_levels(
            hyper_mean=hyper_mean, covs=list(covs), noise_std=1.0, armed=self.is_armed
        )
        model = GeneralizedHierarchy(hierarchy, self.family)
        alone = hierarchy.num_levels == 1
        belief = MatchedBelief(model, population=population)
        tasks = belief.roots[population] if alone else np.arange(self.num_tasks)
        sums = self.sums()
        if alone:
            whole = np.zeros(belief.num_populations)
            shape = (whole.size, *sums.xx.shape[1:])
            xx, xy = np.zeros(shape), np.zeros((whole.size, self.dim))
            np.add.at(xx, population, sums.xx)
            np.add.at(xy, population, sums.xy)
            sums = TaskSums(xx, xy, whole, whole)
        fold(belief._nodes, belief.roots if alone else tasks, sums)
        rows = tasks[self.tasks]
        for _ in range(SWEEPS):
            moved = belief._match_sites(
                rows, self.features, self.rewards, self.exposure, self._sites
            )
            if moved.max(initial=0.0) <= tolerance:
                break
        return belief

    def log_evidence(
        self, hyper_mean: Vector, covs: Sequence[Matrix], population: Indices, tolerance: float
    ) -> float:
        """The log evidence of all rewards under a hierarchy of two levels, once sites match."""
        known = self.match(hyper_mean, covs, population, tolerance)
        whole = with_squares(self.sums())
        nodes = MatchedBelief(
            GeneralizedHierarchy(known._nodes.levels.hierarchies[0], self.family),
            population=population,
        )._nodes
        _, evidence = fold(nodes, np.arange(self.num_tasks), whole)
        return float(evidence.log().sum() + whole.yy.sum() / 2) + self.log_scale

    def sums(self) -> TaskSums:
        """The sites by task, as sums of Gaussian rewards of noise 1, of which none is counted."""
        settled, none = SettledSites(self.dim, armed=self.is_armed), np.zeros(self.num_tasks)
        settled.add(self.tasks, self.features, self._sites)
        sums = settled.sums(self.num_tasks)
        return TaskSums(sums.xx, sums.xy, none, none)
