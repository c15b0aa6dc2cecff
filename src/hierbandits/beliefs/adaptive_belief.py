"""What is known when widths are unknown: candidates side by side, weighted by evidence."""

from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from hierbandits.beliefs.candidates import Candidates
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Indices, Matrix, Vector


class AdaptiveBelief(Posterior):
    """The posterior over parameters and widths, and over the noise unless it was stated.

    It is a mixture over candidate widths, weighted by their prior and evidence.  Widths are in
    units of the noise scale s.  Given widths and s, theta is Gaussian, as in `Belief`.  Given the
    widths alone, square / s^2 is chi-squared, with one degree of freedom for each reward.
    """

    KIND: ClassVar[str] = "adaptive belief"

    def __init__(
        self,
        prior: UnknownWidths,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if hyper_means is not None:
            raise ValueError("hyper_means must not be given: they are the prior's, of all runs")
        self.prior = prior
        self.candidates = Candidates(prior, num_tasks, num_populations, population)
        self._nodes = self.candidates.nodes

    def add(self, parent: int, count: int = 1) -> Indices:
        """New tasks below a population's root; returns their ids."""
        return self.candidates.add(parent, count)

    def remove_newest(self, count: int) -> None:
        """Take back so many nodes that were added last, of which nothing was learned."""
        for belief in self.candidates.beliefs:
            belief.remove_newest(count)

    @property
    def learned_from(self) -> list[LogTotals]:
        """The totals of the log that the prior's mean already holds."""
        return [] if self.prior.learned_from is None else [self.prior.learned_from]

    @property
    def largest_feature(self) -> float:
        """The size above which features are refused, because no unit is as large."""
        return self.prior.largest_feature

    def observe_rows(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""
        if noise is not None:
            raise ValueError("noise_std must not be given: all rewards of this belief share one")
        self.check_leaves(nodes)  # candidates start late from the sums of tasks
        self.candidates.learn(nodes, self._population(nodes), table, rewards)
        self._nodes = self.candidates.nodes

    def learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`."""
        self.candidates.learn_past(nodes, self._population(nodes), sums)
        self._nodes = self.candidates.nodes

    @property
    def num_rewards(self) -> Vector:
        """The number of rewards learned in each population, (P,)."""
        return self.candidates.count.copy()

    def revise(self, task: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Replace a reward that was observed earlier by a corrected one."""
        node = int(self.checked_nodes([task])[0])
        if not self.candidates.has_seen(node):
            raise ValueError(f"task must be one that has had a reward, got {task}")
        table = self.checked_features([features], 1)
        old, new = real_array("rewards", [old_reward, new_reward], (2,))
        self.candidates.revise(node, table[0], old, new)

    def log_evidence(self) -> Vector:
        """The log density of each population's rewards, its candidates summed, (P,).

        Up to a constant, since prior weights are not scaled to sum to one; with the noise unknown
        it depends on the number of rewards.
        """
        log: Vector = logsumexp(self.candidates.log_weights(), axis=0)
        return log

    def draws(
        self,
        rng: Generator | None,
        nodes: Indices,
        *,
        repeats: int = 1,
        fresh: bool = False,
        time: Vector | None = None,
    ) -> tuple[Matrix, Indices]:
        """Draw widths and a noise scale for each population, then the parameters given them."""
        if rng is None:
            return self._means(nodes), np.arange(nodes.size)
        population = self._population(nodes)
        if repeats == 1 and self.num_populations == 1:  # an agent's way
            c = int(self._chosen(rng, 1)[0, 0])
            return self._draws_of(rng, c, nodes, population, 1, fresh)
        tables: list[Matrix] = [np.empty((0, self.dim))]
        rows, used = [np.empty(0, np.intp)], 0
        for choice, alike in groupby(self._chosen(rng, repeats).tolist()):
            turns = len(list(alike))
            candidate = np.array(choice)[population]
            places = np.empty((turns, nodes.size), np.intp)
            for c in np.unique(candidate).tolist():
                events = np.flatnonzero(candidate == c)
                theta, slots = self._draws_of(
                    rng, c, nodes[events], population[events], turns, fresh
                )
                places[:, events] = used + slots.reshape(turns, -1)
                tables.append(theta)
                used += len(theta)
            rows.append(places.ravel())
        return np.concatenate(tables), np.concatenate(rows)

    def _draws_of(
        self,
        rng: Generator,
        c: int,
        nodes: Indices,
        population: Indices,
        repeats: int,
        fresh: bool,
    ) -> tuple[Matrix, Indices]:
        """Draws given candidate c, with a noise scale for each population and draw."""
        scale = self._scales(rng, c, repeats)
        each = None if scale is None else scale[:, population].ravel()
        return self.candidates.beliefs[c].draws(
            rng, nodes, repeats=repeats, fresh=fresh, scale=each
        )

    def _chosen(self, rng: Generator, repeats: int) -> Indices:
        """The candidate that each draw takes in each population, (repeats, P).

        In a single population they are sorted: the order of draws does not matter.
        """
        cumulative = np.cumsum(self.candidates.weights(), axis=0)
        luck = rng.random((repeats, cumulative.shape[1]))
        chosen = (cumulative[:-1, None] <= luck).sum(axis=0)
        return np.sort(chosen, axis=0) if repeats > 1 and cumulative.shape[1] == 1 else chosen

    def _scales(self, rng: Generator, c: int, repeats: int) -> Matrix | None:
        """Draws of the noise scale given candidate c, (repeats, P); 1 before the first reward."""
        if self.prior.noise_std is not None:
            return None
        evidence = self.candidates.evidence
        count, square = evidence.count[c], evidence.square[c]
        drawn = rng.standard_gamma(np.maximum(count, 1.0) / 2, (repeats, count.size))
        return np.where(count > 0, np.sqrt(square / 2 / drawn), 1.0)

    def _var_scale(self, c: int) -> Vector:
        """The mean of s^2 given candidate c, (P,).

        With one or two rewards it is infinite; a finite number stands in for it.
        """
        evidence = self.candidates.evidence
        count, square = evidence.count[c], evidence.square[c]
        if self.prior.noise_std is not None:
            return np.ones_like(count)
        return np.where(count > 0, square / np.maximum(count - 2.0, 1.0), 1.0)

    def _means(self, nodes: Indices) -> Matrix:
        population, total = self._population(nodes), np.zeros((nodes.size, self.dim))
        weights = self.candidates.weights()
        for belief, weight in zip(self.candidates.beliefs, weights, strict=True):
            events = np.flatnonzero(weight[population] > 0)
            theta, rows = belief.draws(None, nodes[events])
            total[events] += weight[population[events], None] * theta[rows]
        return total

    def predict_rows(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rows: Indices,
        time: Vector | None = None,
    ) -> Prediction:
        """The moments of the mixture; differences between candidates count as shared."""
        population = self._population(nodes)
        mean, within, shared, total = np.zeros((4, nodes.size))
        for c, weight in enumerate(self.candidates.weights()):
            events = np.flatnonzero(weight[population] > 0)
            belief = self.candidates.beliefs[c]
            part = belief.predict_rows(nodes[events], table, rows[events])
            share, scale = weight[population[events]], self._var_scale(c)[population[events]]
            total[events] += share
            off = part.mean - mean[events]  # squares of means would cancel
            mean[events] += share / total[events] * off
            within[events] += share * scale * part.within_var
            apart = off * (part.mean - mean[events])
            shared[events] += share * (scale * part.shared_var + apart)
        return Prediction(mean, within, shared)

    def task(self, task: int) -> Gaussian:
        """The mean and covariance of a task's parameter."""
        mean, within, shared = self._moments(int(self.checked_nodes([task])[0]))
        return Gaussian(mean, within + shared)

    def uncertainty(self, task: int) -> Uncertainty:
        """A task's covariance: its own, and what comes from its parent and from the widths."""
        _, within, shared = self._moments(int(self.checked_nodes([task])[0]))
        return Uncertainty(within, shared)

    def _moments(self, node: int) -> tuple[Vector, Matrix, Matrix]:
        p = self._nodes.forest.population(node)
        weights = self.candidates.weights()[:, p]
        parts = []
        for c in np.flatnonzero(weights).tolist():
            centre, own, inherited = self.candidates.beliefs[c]._nodes.marginal(node)
            scale = self._var_scale(c)[p]
            parts.append((weights[c], centre, scale * own, scale * inherited))
        mean = np.array(sum(weight * centre for weight, centre, _, _ in parts))
        within = np.array(sum(weight * own for weight, _, own, _ in parts))
        shared: Matrix = np.zeros_like(within)
        for weight, centre, _, inherited in parts:
            shared += weight * (inherited + np.outer(centre - mean, centre - mean))
        return mean, within, shared

    def _population(self, nodes: Indices) -> Indices:
        return self._nodes.forest.populations(nodes)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        return self.candidates.state()

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "AdaptiveBelief":
        """The belief that `state` described, checked."""
        belief = cls.__new__(cls)
        belief.candidates = Candidates.from_state(meta, arrays)
        belief.prior, belief._nodes = belief.candidates.prior, belief.candidates.nodes
        return belief
