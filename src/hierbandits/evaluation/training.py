"""Beliefs trained on part of a log: the reward model, and what trained policies know."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.algebra import square_root
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array
from hierbandits.logs.split import Split
from hierbandits.logs.survey import Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Indices, Matrix, Name, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The posterior of every arm's mean reward in every task; tasks are a belief's nodes."""

    belief: Belief
    table: Matrix | None  # the arms' features, (K, d); None when armed
    mean: Matrix  # (nodes, K)
    within_var: Matrix  # (nodes, K)
    shared_var: Matrix  # (nodes, K)

    @classmethod
    def of(cls, belief: Belief, num_nodes: int, table: Matrix | None) -> "Scores":
        """Those of the first nodes of a belief."""
        num_arms = belief.dim if table is None else len(table)
        features = np.arange(num_arms) if table is None else table
        nodes = np.repeat(np.arange(num_nodes), num_arms)
        parts = belief.predict_rows(nodes, features, np.tile(np.arange(num_arms), num_nodes))
        return cls(belief, table, *(part.reshape(num_nodes, num_arms) for part in parts))

    @property
    def std(self) -> Matrix:
        """The standard deviations, (nodes, K)."""
        return np.sqrt(self.within_var + self.shared_var)

    def drawn(self, nodes: Indices, normals: Matrix) -> Matrix:
        """Posterior draws of the arms' mean rewards, (n, draws, K), of normals (n, draws, dim)."""
        if self.table is None:
            armed: Matrix = self.mean[nodes, None] + self.std[nodes, None] * normals
            return armed
        out = np.empty((*normals.shape[:2], len(self.table)))
        for i, node in enumerate(nodes.tolist()):
            posterior = self.belief.task(node)
            theta = posterior.mean + normals[i] @ square_root(posterior.cov).T
            out[i] = theta @ self.table.T
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A prior, and the rewards of some rows that it is updated by."""

    survey: Survey
    group: int  # the group of rows that is evaluated with it
    prior: GaussianHierarchy
    sums: TaskSums  # (nodes, K), armed
    table: Matrix | None  # the arms' features, (K, d)

    def model(self) -> Scores:
        """What the hierarchy itself believes."""
        return self._scores(self.prior, self.sums, self.survey.num_nodes)

    def scores(self, recipe: Recipe) -> tuple[Scores, Indices]:
        """What a policy of this recipe believes, and the row of its table for each task."""
        believed, node = recipe.believe(self.prior), self.survey.node
        assert isinstance(believed, GaussianHierarchy)  # others were refused as targets
        if believed.num_levels > 1:
            return self._scores(believed, self.sums, self.survey.num_nodes), node
        count, width = self.survey.num_populations, self.survey.width
        parts = (self.sums.xx, self.sums.xy, self.sums.yy, self.sums.n)
        pooled = (part.reshape(count, width, *part.shape[1:]).sum(axis=1) for part in parts)
        return self._scores(believed, TaskSums(*pooled), count), node // width

    def _scores(self, prior: GaussianHierarchy, sums: TaskSums, num_nodes: int) -> Scores:
        table = self.table
        sums = sums if table is None else with_features(sums, table)
        belief = Belief.from_sums(prior, sums, self.survey.num_populations)
        return Scores.of(belief, num_nodes, table)


@dataclass(frozen=True, slots=True, eq=False)
class LogTotals:
    """The sums of every group's rows, task by task."""

    survey: Survey
    split: Split
    sums: TaskSums  # (groups * nodes, K), armed

    @classmethod
    def of(
        cls, survey: Survey, split: Split, advance: Callable[[int], None] = lambda rows: None
    ) -> "LogTotals":
        """One pass over the log."""
        size = split.num_groups * survey.num_nodes
        sums = TaskSums.zeros(size, len(survey.arms), armed=True)
        for rows in survey.rows():
            places = split.groups(rows) * survey.num_nodes + survey.node[rows.tasks]
            sums.add(places, rows.arms, rows.rewards)
            advance(rows.tasks.size)
        return cls(survey, split, sums)

    @property
    def plays(self) -> Matrix:
        """How often each task's arms were played in the whole log, (tasks, K)."""
        counts = self.sums.xx.reshape(self.split.num_groups, self.survey.num_nodes, -1)
        total: Matrix = counts.sum(axis=0)[self.survey.node]
        return total

    def of_groups(self, groups: list[int]) -> TaskSums:
        """The sums of these groups together, (nodes, K)."""
        size = self.survey.num_nodes
        parts = (self.sums.xx, self.sums.xy, self.sums.yy, self.sums.n)
        shaped = (part.reshape(self.split.num_groups, size, *part.shape[1:]) for part in parts)
        return TaskSums(*(part[groups].sum(axis=0) for part in shaped))

    def training(
        self, group: int, groups: list[int], prior: GaussianHierarchy | None, table: Matrix | None
    ) -> Training:
        """What is learned from `groups`, for the evaluation of `group`."""
        sums = self.of_groups(groups)
        if prior is None:
            if sums.n.sum() == 0:
                raise ValueError("log must have rows to train on and rows to evaluate, got too few")
            prior = fitted(sums, self.survey.population_of_nodes, table)
        return Training(self.survey, group, prior, sums, table)


def fitted(sums: TaskSums, population: Indices, table: Matrix | None) -> GaussianHierarchy:
    """The prior whose widths fit these sums best; see `fit_prior`."""
    from hierbandits.fitting import fit_prior  # scipy.optimize takes a while to import

    sums = sums if table is None else with_features(sums, table)
    return fit_prior(sums, population=population).prior


def with_features(sums: TaskSums, table: Matrix) -> TaskSums:
    """Sums of arms as sums of their features: all that a linear belief needs."""
    size, dim = len(sums.n), table.shape[1]
    outer = np.einsum("ai,aj->aij", table, table).reshape(len(table), -1)
    xx = (sums.xx @ outer).reshape(size, dim, dim)
    return TaskSums(xx, sums.xy @ table, sums.yy, sums.n)


def feature_table(arm_features: Mapping[Name, Any] | None, arms: tuple[Name, ...]) -> Matrix | None:
    """The features of the log's arms, (K, d), in its order."""
    if arm_features is None:
        return None
    if not isinstance(arm_features, Mapping):
        raise ValueError(f"arm_features must map arms to features, got {arm_features!r:.80}")
    missing = [arm for arm in arms if arm not in arm_features]
    if missing:
        raise ValueError(
            f"arm_features must have every arm of the log, got none for {missing[0]!r}"
        )
    rows: list[Vector] = [np.asarray(arm_features[arm]) for arm in arms]
    if len({row.shape for row in rows}) > 1:
        raise ValueError("arm_features must all have the same number of entries, got several")
    return real_array("arm_features", np.stack(rows), (len(arms), None))


def checked_prior(
    prior: GaussianHierarchy | None, survey: Survey, table: Matrix | None
) -> GaussianHierarchy | None:
    """The prior, if it is one of these arms."""
    if prior is None:
        return None
    if not isinstance(prior, GaussianHierarchy) or prior.num_levels != 2:
        raise ValueError(f"prior must be a GaussianHierarchy of two levels, got {prior!r}")
    if table is not None:
        if prior.is_armed or prior.dim != table.shape[1]:
            raise ValueError(f"prior must have {table.shape[1]} features, got {prior!r}")
        return prior
    if not prior.is_armed:
        raise ValueError(f"prior must be armed unless arm_features are given, got {prior!r}")
    if prior.dim != len(survey.arms):
        raise ValueError(f"prior must have the log's {len(survey.arms)} arms, got {prior!r}")
    alike = all(np.ptp(part) == 0 for part in (prior.hyper_mean, *prior.covs))
    if survey.log.arms is None and not alike:
        raise ValueError(
            "prior tells the arms apart, so the log must say which is which: give Log.read their "
            f"names in the prior's order, arms=[...]; this log met them as {survey.arms!r:.80}"
        )
    return prior
