"""What every belief offers: checked arguments in front of unchecked loops."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.best_arms import best_row_under, best_under
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.mean_reward import MeanReward
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior_past import check_sums
from hierbandits.beliefs.revisable import Revisable
from hierbandits.beliefs.saved_state import SavedState
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST, checked_time, generator, index_array, real_array
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.kernels.lineage import first_with_children
from hierbandits.models.log_totals import LogTotals
from hierbandits.types import Features, Indices, Matrix, Vector


class Posterior(SavedState, Revisable):
    """A posterior over the parameters of a forest of nodes: all that rules and policies ask for.

    Tasks come first, population by population, or in the order of `population`.  The nodes above
    them follow; `roots` are those of the populations.

    Events may have times: `time` is None, or one finite number for each event, in any unit that
    the model uses.  `_raw_observe` is told when rewards were earned, and `_raw_draws` and
    `_raw_predict` for when parameters are asked; with `repeats` all draws have the same times.
    A belief whose parameters stand still takes no notice of them, and says so by IS_TIMED.
    """

    RECORD: ClassVar[type[TaskSums]] = TaskSums  # what it needs of a log
    FITS_WIDTHS: ClassVar[bool] = False  # whether widths are its own choice, and none are refused
    IS_TIMED: ClassVar[bool] = False  # whether agents are to tell it the times of events
    IS_GAUSSIAN: ClassVar[bool] = True  # whether rewards are any numbers, x @ theta their mean
    IS_SYMMETRIC: ClassVar[bool] = True  # whether draws lie alike on both sides of their mean

    @abstractmethod
    def add(self, parent: int, count: int = 1) -> Indices:
        """New nodes below a node (a population's root, say); returns their ids."""

    @abstractmethod
    def _raw_remove_newest(self, count: int) -> None:
        """Take back so many nodes that were added last, of which nothing was learned."""

    @abstractmethod
    def _raw_observe(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""

    @abstractmethod
    def _raw_learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`."""

    def _raw_start_over(
        self, old: "Posterior", before: Indices, after: Indices, sums: TaskSums
    ) -> None:
        """Learn all that nodes `before` of another belief know, and `sums`, in nodes `after`."""
        if (told := np.flatnonzero(sums.n > 0)).size:
            self._raw_learn_past(after[told], sums.rows(told))

    def _raw_settle(self) -> None:
        """Do what is due from time to time, after rewards: agents and policies call it."""

    @property
    @abstractmethod
    def num_rewards(self) -> Vector:
        """The number of rewards learned in each population, (P,)."""

    @abstractmethod
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

    def _raw_best_arms(
        self,
        rng: Generator,
        nodes: Indices,
        arms: ArmArrays,
        *,
        drawn: bool = True,
        repeats: int = 1,
        fresh: bool = False,
        scale: float = 1.0,
        time: Vector | None = None,
    ) -> Indices:
        """The number of each event's best arm in a joint draw, draw after draw, (repeats * E,).

        Or, unless `drawn`, at the posterior means.  `scale` is how far draws are from the means,
        in units of how far the posterior's are.  This and `_raw_observe` are a whole round:
        arrays in and arrays out, and no parameter leaves the belief.
        """
        source = rng if drawn else None
        theta, slots = self._raw_draws(source, nodes, repeats=repeats, fresh=fresh, time=time)
        if scale != 1.0:
            means, own = self._raw_draws(None, nodes, time=time)
            centre = means[np.tile(own, repeats)]
            theta, slots = centre + scale * (theta[slots] - centre), np.arange(slots.size)
        return best_under(theta, slots, arms, rng)

    def _raw_best_row(self, stock: NormalStock, node: int, table: Features) -> int:
        """`_raw_best_arms` of one event: the row of a table that is best in a draw.

        The table has the right form; numbers that are too large or none are refused here.
        """
        self._raw_check_fit(table)
        theta, slots = self._raw_draws(stock.rng, np.array([node]))
        return best_row_under(theta, slots, table, stock.rng)

    def _raw_spread(self, stock: NormalStock, node: int, number: int) -> Matrix:
        """A node's mean, and below it draws with ancestors of their own, (1 + number, d)."""
        one = np.array([node])
        mean, _ = self._raw_draws(None, one)
        theta, slots = self._raw_draws(stock.rng, one, repeats=number, fresh=True)
        return np.concatenate([mean[-1:], theta[slots]])

    def _raw_check_fit(self, table: Features) -> None:
        """Raise an error if a feature of an arm is too large, or no number."""
        if not self.is_armed:
            real_array("arms", table, table.shape, largest=self.largest_feature)

    def _raw_observe_one(self, node: int, features: Any, reward: float) -> None:
        """`_raw_observe` of one event, with features (d,) or an arm's index."""
        self._raw_observe(np.array([node]), np.array([features]), np.array([reward]))

    @abstractmethod
    def _raw_predict(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rows: Indices,
        time: Vector | None = None,
    ) -> Prediction:
        """`predict` with features looked up in a table, unchecked: for rules."""

    @abstractmethod
    def task(self, task: int) -> Gaussian:
        """The marginal posterior of a task's parameter.  [HBB, eq. task posterior]"""

    @abstractmethod
    def uncertainty(self, task: int) -> Uncertainty:
        """A task's covariance, split into its own and what comes from above it."""

    @abstractmethod
    def log_evidence(self) -> Vector:
        """The log marginal density of all rewards of each population, (P,)."""

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return self._nodes.dim

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self._nodes.is_armed

    @property
    def is_diagonal(self) -> bool:
        """Whether arms are independent of each other."""
        return self._nodes.is_diagonal

    @property
    def largest_feature(self) -> float:
        """The size above which features are refused: they would leave too few digits."""
        return LARGEST if self.FITS_WIDTHS else self._nodes.levels.largest_feature

    @property
    def num_nodes(self) -> int:
        """All nodes: tasks, groups and roots."""
        return self._nodes.size

    @property
    def num_levels(self) -> int:
        """Two for populations and their tasks."""
        return self._nodes.levels.num_levels

    @property
    def num_populations(self) -> int:
        """The number of roots."""
        return self._nodes.forest.num_populations

    @property
    def roots(self) -> Indices:
        """The node of each population's hyper-parameter, (P,)."""
        return self._nodes.forest.root.copy()

    def observe(
        self,
        tasks: ArrayLike,
        features: ArrayLike,
        rewards: ArrayLike,
        noise_std: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
    ) -> None:
        """Learn a batch of rewards; a task may repeat.  A bad batch changes nothing.

        Features are (E, d), or arm indices (E,) when armed; `noise_std` overrides the hierarchy's,
        event by event.  `time` is when each reward was earned, (E,).
        """
        nodes = self.checked_nodes(tasks)
        table = self.checked_features(features, nodes.size)
        values = real_array("rewards", rewards, nodes.shape, " to match tasks")
        noise = None if noise_std is None else self._nodes.levels.checked_noise(noise_std, table)
        self._raw_observe(nodes, table, values, noise, checked_time(time, nodes))

    def sample(
        self,
        rng: Generator,
        tasks: ArrayLike,
        *,
        fresh: bool = False,
        time: ArrayLike | None = None,
    ) -> Matrix:
        """One joint posterior draw of the tasks' parameters, (E, d).

        Each node is drawn once per call: tasks share their ancestors' draws and repeats of a task
        share its own.  With `fresh`, every task draws ancestors of its own.
        """
        generator("rng", rng)
        nodes = self.checked_nodes(tasks)
        draws, slots = self._raw_draws(rng, nodes, fresh=fresh, time=checked_time(time, nodes))
        return draws[slots]

    def predict(
        self, tasks: ArrayLike, features: ArrayLike, *, time: ArrayLike | None = None
    ) -> Prediction:
        """The posterior of x @ theta for each event, its variance split by where it comes from."""
        nodes = self.checked_nodes(tasks)
        table = self.checked_features(features, nodes.size)
        return self._raw_predict(nodes, table, np.arange(nodes.size), checked_time(time, nodes))

    def mean_reward(
        self, tasks: ArrayLike, features: ArrayLike, *, time: ArrayLike | None = None
    ) -> MeanReward:
        """The posterior of each event's mean reward: of x @ theta where rewards are Gaussian."""
        linear = self.predict(tasks, features, time=time)
        return self._raw_mean_reward(linear.mean, linear.std)

    def _raw_mean_reward(self, mean: Vector, std: Vector) -> MeanReward:
        """What mean rewards are like if their linear predictors have these moments."""
        return MeanReward(mean, std)

    def _raw_linked(self, values: Vector) -> Vector:
        """The mean rewards of linear predictors x @ theta, which are in the same order."""
        return values

    def _raw_interval(
        self, nodes: Indices, arms: Indices, linear: Prediction, reach: float
    ) -> tuple[Vector, Vector]:
        """What arms' mean rewards lie between, as surely as within `reach` deviations."""
        return self._raw_linked(linear.bound(-reach)), self._raw_linked(linear.bound(reach))

    def check_rewards(self, name: str, rewards: ArrayLike) -> None:
        """Raise an error that names a reward that the model cannot have; numbers are checked."""

    def hyper(self, population: int = 0) -> Gaussian:
        """The hyper-posterior Q of a population.  [HBB, eq. linear hyperposterior]"""
        row = index_array("population", [population], self.num_populations, "populations")[0]
        return self.task(int(self._nodes.forest.root[row]))

    def checked_nodes(self, tasks: ArrayLike, name: str = "tasks") -> Indices:
        """Task ids as kernels take them, checked."""
        return index_array(name, tasks, self._nodes.size, "nodes")

    def _raw_check_leaves(self, nodes: Indices) -> None:
        """Raise an error if one of these nodes is not a task."""
        levels = self._nodes.levels
        above = first_with_children(nodes, self._nodes.forest.level, levels.below)
        if above >= 0:
            node = nodes[above]
            raise ValueError(f"tasks must be nodes of tasks, got node {node}, a root or a group")

    @property
    def learned_from(self) -> list[LogTotals]:
        """The totals of the logs that its priors already hold."""
        held = [hierarchy.learned_from for hierarchy in self._nodes.levels.hierarchies]
        return [totals for totals in held if totals is not None]

    def check_past(self, num_tasks: int, sums: TaskSums) -> None:
        """Raise an error unless `_raw_learn_past` can take these sums, for so many tasks."""
        if not isinstance(sums, self.RECORD):
            raise ValueError(f"sums must be {self.RECORD.__name__}, got {sums!r:.80}")
        if earlier := self.num_rewards.sum():
            raise ValueError(f"sums must be learned before all rewards, got {earlier:g} earlier")
        check_sums(sums, num_tasks, self.dim, armed=self.is_armed, largest=self.largest_feature)
        self.check_totals(sums)
        self.check_new_log(sums.totals())

    def check_totals(self, sums: TaskSums) -> None:
        """Raise an error if rewards of the belief's kind cannot have these sums."""

    def check_new_log(self, totals: LogTotals) -> None:
        """Raise an error if a prior of this belief already holds the log of these totals."""
        if any(totals.same_log(learned) for learned in self.learned_from):
            raise ValueError(
                f"sums must not be the prior's own log, {totals.n:g} rows, which would count twice:"
                " start from the prior before it (report.before_log), or without the sums"
            )

    def checked_features(self, features: ArrayLike, num_rows: int) -> Matrix | Indices:
        """Features as kernels take them: (rows, d), or arm indices (rows,) when armed."""
        if not self.is_armed:
            shape, largest = (num_rows, self.dim), self.largest_feature
            return real_array("features", features, shape, " to match tasks", largest)
        arms = index_array("features", features, self.dim, "arms")
        if arms.size != num_rows:
            raise ValueError(
                f"features must have shape ({num_rows},) to match tasks, got {arms.shape}"
            )
        return arms
