"""What is known: the exact posterior of a Gaussian hierarchy, in O(d^2) per event."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.best_arms import best_row_under
from hierbandits.beliefs.contribution import Contribution, contributed
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.folding import fold
from hierbandits.beliefs.forms import form_of
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.levels import check_arms_fit, children_per_level
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.populations import checked_population, planted_population
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.revision import REFUSED, Revision
from hierbandits.beliefs.round_slots import RoundSlots
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import count, positive, read_only, real_array, state_copy
from hierbandits.kernels.loops import UNFIT, Loops
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Features, Indices, Matrix, Vector


class Belief(Posterior):
    """The exact joint posterior of all parameters, given rewards in any order.

    `num_tasks` is the number of tasks of each population.  In deeper hierarchies it counts the
    children at each level, from the root down.  Or give `population`, the population of each task,
    (tasks,): populations may then differ in size, and a task's id is its place in that array.
    Give several hierarchies and each gets `num_populations` populations, in turn.
    """

    KIND: ClassVar[str] = "belief"
    _form_of = staticmethod(form_of)

    def __init__(
        self,
        prior: GaussianHierarchy | Sequence[GaussianHierarchy],
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        priors = list(prior) if isinstance(prior, Iterable) else [prior]
        if not priors or not all(isinstance(p, GaussianHierarchy) for p in priors):
            raise ValueError(f"prior must be a GaussianHierarchy or several, got {prior!r}")
        children = children_per_level(num_tasks, priors)
        if population is not None:
            population, num_populations = planted_population(
                population, priors, children, num_populations
            )
        self._nodes = Nodes(priors[0], self._form_of(priors))
        self._kernels: Loops = self._nodes.levels.form.loops
        self._evidence = Evidence.none(0)
        self._plant(priors, num_populations, hyper_means, children, population)

    @classmethod
    def from_sums(
        cls,
        prior: GaussianHierarchy,
        sums: TaskSums,
        num_populations: int = 1,
        num_tasks: tuple[int, ...] | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> "Belief":
        """The belief after all the events that were summed, tasks in the belief's order.

        `population` is the population of each task, (tasks,); without it the populations have
        the same number of tasks.  Deeper hierarchies need `num_tasks`.
        """
        num_populations = count("num_populations", num_populations, least=1)
        if population is not None:
            if num_tasks is not None:
                raise ValueError(f"num_tasks must not come with population, got {num_tasks!r}")
            population, num_populations = checked_population(
                population, num_populations, len(sums.n)
            )
            belief = cls(prior, 0, num_populations, population=population)
            tasks = population if prior.num_levels == 1 else np.arange(population.size)
        else:
            if num_tasks is None:
                num_tasks = (len(sums.n) // num_populations,) if prior.num_levels > 1 else ()
            belief = cls(prior, num_tasks, num_populations)
            levels = belief._nodes.forest.level[: belief.num_nodes]
            tasks = np.flatnonzero(levels == prior.num_levels - 1)
        belief.check_past(tasks.size, sums)
        belief._raw_learn_past(tasks, sums)
        return belief

    def _raw_learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`."""
        if self.num_levels == 1:  # all tasks of a population share its root
            nodes, row = np.unique(nodes, return_inverse=True)
            sums = sums._grouped(row, nodes.size)
        self._learn_tasks(nodes, sums)

    def _learn_tasks(self, nodes: Indices, sums: TaskSums) -> None:
        """Let tasks that know nothing learn whole sums."""
        if nodes.size:
            self._evidence.add(*fold(self._nodes, nodes, sums))

    @property
    def num_rewards(self) -> Vector:
        """The number of rewards learned in each population, (P,)."""
        return self._evidence.count.copy()

    def _restart(
        self, populations: Indices, priors: Sequence[GaussianHierarchy], sums: TaskSums
    ) -> None:
        """Give populations of two levels other priors, and learn all their events over again.

        `sums` has a row for every node of the belief.
        """
        tasks = self._nodes.replant(populations, priors)
        self._evidence.put(populations, Evidence.none(len(populations)))
        tasks = tasks[sums.n[tasks] > 0]  # the others have nothing to learn
        self._learn_tasks(tasks, sums.rows(tasks))

    def _replica(self, prior: GaussianHierarchy) -> "Belief":
        """A belief of one population with the same nodes, under another prior.

        Its root has learned nothing, and `_learn_from` must tell it of all nodes.
        """
        twin = Belief(prior, num_populations=0)
        twin._nodes, twin._evidence = self._nodes.replica(prior), Evidence.none(1)
        twin._kernels = self._kernels
        return twin

    def _learn_from(self, nodes: Indices, sums: TaskSums) -> None:
        """Let nodes of a replica learn their sums, a row for each node."""
        is_task = self._nodes.forest.parent[nodes] >= 0
        self._nodes.forget(nodes[is_task])
        seen = np.flatnonzero(is_task & (sums.n > 0))
        self._learn_tasks(nodes[seen], sums.rows(seen))

    def add(self, parent: int, count: int = 1) -> Indices:
        """New nodes below a node (a population's root, say); returns their ids."""
        return self._nodes.sprout(parent, count)

    def _raw_remove_newest(self, count: int) -> None:
        """Take back so many nodes that were added last, of which nothing was learned."""
        self._nodes.forest.cut(count)

    def add_populations(
        self,
        count: int = 1,
        prior: GaussianHierarchy | None = None,
        hyper_means: ArrayLike | None = None,
    ) -> Indices:
        """New populations, without tasks yet; returns their numbers, whose nodes are in `roots`."""
        first = self.num_populations
        self._plant([prior or self._nodes.levels.hierarchies[0]], count, hyper_means, ())
        return np.arange(first, self.num_populations)

    def _plant(
        self,
        priors: list[GaussianHierarchy],
        each: int,
        hyper_means: ArrayLike | None,
        children: tuple[int, ...],
        population: Indices | None = None,
    ) -> None:
        each = count("num_populations", each)
        if each and self.is_armed and not (self.is_diagonal or self.FITS_WIDTHS):
            check_arms_fit(priors)
        if hyper_means is None:
            means = np.repeat([prior.hyper_mean for prior in priors], each, axis=0)
        else:
            means = real_array("hyper_means", hyper_means, (each * len(priors), self.dim))
        before = self._evidence
        self._evidence = before.joined(Evidence.none(len(means)))  # never less than populations
        try:
            self._nodes.plant(priors, means, children, population)
        except BaseException:
            self._evidence = before
            raise

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        meta, arrays = self._nodes.saved()
        arrays = arrays | {"evidence": self._evidence.parts}
        return meta, {name: read_only(array) for name, array in arrays.items()}

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Belief":
        """The belief that `state` described, checked."""
        nodes = Nodes.from_saved(meta, arrays)
        parts = state_copy("evidence", arrays["evidence"], (3, nodes.forest.num_populations))
        belief, evidence = cls.__new__(cls), Evidence.of_parts(parts)
        belief._nodes, belief._kernels, belief._evidence = nodes, nodes.levels.form.loops, evidence
        return belief

    def copy(self) -> "Belief":
        """An independent belief of the same state."""
        twin = self._twin()
        twin._nodes, twin._evidence = self._nodes.copy(), self.evidence
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes held for the nodes, spare room included."""
        return self._nodes.nbytes

    @property
    def evidence(self) -> Evidence:
        """The log evidence of each population in parts, a copy."""
        return self._evidence.joined(Evidence.none(0))

    def log_evidence(self) -> Vector:
        """The exact log marginal density of all rewards of each population, (P,)."""
        return self._evidence.log()

    def _raw_observe(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""
        own = np.empty(0) if noise is None else noise
        arrays, evidence = self._nodes.arrays, self._evidence.parts
        self._kernels.observe(arrays, nodes, table, rewards, own, evidence)

    def revise(
        self,
        task: int,
        features: Any,
        old_reward: float,
        new_reward: float,
        noise_std: float | None = None,
    ) -> None:
        """Replace a reward that was observed earlier by a corrected one: exact, O(d^2).

        The event must have been observed, with this `noise_std`: a belief keeps no log.
        """
        node, row = int(self.checked_nodes([task])[0]), self.checked_features([features], 1)[0]
        old, new = real_array("rewards", [old_reward, new_reward], (2,)).tolist()
        var = None if noise_std is None else float(positive("noise_std", noise_std, ())) ** 2
        if not self._raw_can_revise(node, row, old, new, var):
            raise ValueError(REFUSED.format(old))
        Revision.of(self._nodes, self._evidence, node, row, old, new, var).make()

    def _raw_can_revise(self, *event: Any) -> bool:
        """Whether `revise` leaves enough digits; if not, it refuses.  See `Revision.of`."""
        return Revision.of(self._nodes, self._evidence, *event).leaves_digits

    def _raw_draws(
        self,
        rng: Generator | None,
        nodes: Indices,
        *,
        repeats: int = 1,
        fresh: bool = False,
        time: Vector | None = None,
    ) -> tuple[Matrix, Indices]:
        """Joint draws as a table of parameters, and the row of each event, draw after draw.

        Without `rng`, the posterior means.
        """
        forest, levels = self._nodes.forest, self._nodes.levels.num_levels
        slots = RoundSlots.of(nodes, forest, levels, shared=not fresh, repeats=repeats)
        shape = (slots.node.size, self._nodes.num_normals)
        normals = np.zeros(shape) if rng is None else rng.standard_normal(shape)
        out = np.empty((slots.node.size, self.dim))
        self._kernels.draw(self._nodes.arrays, slots.node, slots.parent, normals, out)
        return out, slots.of_event

    def _raw_best_row(self, stock: NormalStock, node: int, table: Features) -> int:
        """`_raw_best_arms` of one event: the row of a table that is best in a draw."""
        nodes, first = self._nodes, stock.used
        number, most = nodes.path_normals, nodes.levels.largest_feature
        if first + number > stock.size:
            self._raw_check_fit(table)  # before random numbers are drawn
            first = stock.refill(number)
        row = self._kernels.choose(nodes.address, node, stock.block, first, table, most)
        if row == UNFIT:
            self._raw_check_fit(table)
        stock.used = first + number
        return row if row >= 0 else self._untied(stock, first, node, table)

    def _untied(self, stock: NormalStock, first: int, node: int, table: Features) -> int:
        """One of the best rows, at random, in the draw whose normals begin at `first`."""
        path = np.array(self._nodes.forest.path(node)[::-1])
        above, theta = np.arange(-1, path.size - 1), np.empty((path.size, self.dim))
        each = self._nodes.num_normals
        normals = stock.block[first : first + path.size * each].reshape(path.size, each)
        self._kernels.draw(self._nodes.arrays, path, above, normals, theta)
        return best_row_under(theta, above[-1:] + 1, table, stock.rng)

    def _raw_spread(self, stock: NormalStock, node: int, number: int) -> Matrix:
        """The mean of a node's parameter, and below it so many draws, (1 + number, d)."""
        nodes = self._nodes
        first = stock.take(number * (self.dim if nodes.is_diagonal else nodes.path_normals))
        return self._kernels.spread(nodes.address, node, number, stock.block, first)

    def _raw_observe_one(self, node: int, features: Any, reward: float) -> None:
        """`_raw_observe` of one event, with features (d,) or an arm's index."""
        address, evidence = self._nodes.address, self._evidence.parts
        self._kernels.observe_event(address, node, features, reward, 0.0, evidence)

    def _raw_predict(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rows: Indices,
        time: Vector | None = None,
    ) -> Prediction:
        """`predict` with features looked up in a table, unchecked: for rules."""
        out = np.empty((3, nodes.size))
        self._kernels.predict(self._nodes.arrays, nodes, table, rows, out)
        return Prediction(*out)

    def task(self, task: int) -> Gaussian:
        """The marginal posterior of a task's parameter.  [HBB, eq. task posterior]"""
        mean, within, shared = self._nodes.marginal(int(self.checked_nodes([task])[0]))
        return Gaussian(mean, within + shared)

    def task_given(self, task: int, mu: ArrayLike) -> Gaussian:
        """The posterior of a task's parameter if its parent's were mu.  [HBB, eq. conditional]"""
        node = int(self.checked_nodes([task])[0])
        mean, cov, gain = self._nodes.given_parent(node)
        return Gaussian(mean + gain @ real_array("mu", mu, (self.dim,)), cov)

    def uncertainty(self, task: int) -> Uncertainty:
        """A task's covariance, split into its own and what comes from above it."""
        _, within, shared = self._nodes.marginal(int(self.checked_nodes([task])[0]))
        return Uncertainty(within, shared)

    def contribution(self, tasks: ArrayLike) -> Contribution:
        """What these tasks tell their parent; `merge_contributions` adds up disjoint sets.

        A belief keeps what is left of task_cov, so rounding is 1e-16 of Sigma_0^-1.  Where that
        could move a merged hyper-posterior by a millionth of its standard deviation, because
        task_cov is very narrow, it is a ValueError: `TaskSums` of shards add up without that loss.
        """
        nodes = np.unique(self.checked_nodes(tasks))
        parents = np.unique(self._nodes.forest.parent[nodes])
        if parents.size > 1 or (parents < 0).any():
            raise ValueError("tasks must be children of one node, got several or a root")
        return contributed(self._nodes, nodes)
