"""What is known of arms whose hyper-parameters are on grids: exact, up to the grids."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, ndtr

from hierbandits.beliefs.count_nodes import CountNodes, counted_form
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.grid_intervals import mixture_interval
from hierbandits.beliefs.hyper_cells import HyperCells
from hierbandits.beliefs.hyper_grids import HyperGrids
from hierbandits.beliefs.levels import children_per_level
from hierbandits.beliefs.populations import checked_population
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.posterior_past import check_rewards
from hierbandits.beliefs.round_slots import RoundSlots
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import (
    checked_time,
    count,
    index_array,
    one_of,
    read_only,
    real_array,
    state_copy,
)
from hierbandits.kernels import grid_answers, grid_events, hyper_grid
from hierbandits.kernels.hyper_grid import GAMMA, GridArrays
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.gamma_hierarchy import GammaHierarchy
from hierbandits.models.grid_hierarchy import GridHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.reward_family import LARGEST_COUNT, checked_exposure
from hierbandits.types import Indices, Matrix, Vector

MODELS: dict[str, type[GridHierarchy]] = {"beta": BetaHierarchy, "gamma": GammaHierarchy}
"""The models that it knows, by their names in files."""


class GridBelief(Posterior):
    """The joint posterior of all success rates, or of all rates, and of what arms have in common.

    Given an arm's mean and width, tasks are independent, and each is a Beta or a Gamma.  The mean
    and the width have a grid for each arm and population.  A reward changes what one task says of
    each cell: O(cells), and the order of rewards does not matter, up to the grid.  The grid moves
    to where the posterior is, and is then computed from all sums.

    A task's parameter holds the mean rewards of its arms, and a root's the means m of arms; `task`,
    `hyper` and `predict` give their moments.
    """

    KIND: ClassVar[str] = "grid belief"
    FITS_WIDTHS: ClassVar[bool] = True
    IS_GAUSSIAN: ClassVar[bool] = False
    IS_SYMMETRIC: ClassVar[bool] = False
    _nodes: CountNodes

    def __init__(
        self,
        prior: GridHierarchy,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if not isinstance(prior, GridHierarchy):
            raise ValueError(f"prior must be a BetaHierarchy or GammaHierarchy, got {prior!r:.80}")
        if hyper_means is not None:
            raise ValueError("hyper_means must not be given: they are learned, on grids")
        self.prior = prior
        nodes = CountNodes(prior.dim)
        children = children_per_level(num_tasks, [counted_form(prior.dim)])
        of_task: Indices | None = None
        if population is not None:
            if children:
                raise ValueError(f"num_tasks must not come with population, got {num_tasks!r}")
            of_task, num_populations = checked_population(population, num_populations)
        number = count("num_populations", num_populations)
        nodes.plant_counts(number, children, of_task)
        self._nodes, self._evidence = nodes, Evidence.none(number)
        self._grids = HyperGrids(prior, number)
        self._place_all()

    @property
    def _arrays(self) -> GridArrays:
        return self._grids.arrays(self._nodes, self._evidence.parts)

    def _place_all(self) -> None:
        """Move all grids to where their posteriors are."""
        hyper_grid.place_all(self._arrays, self._grids.kind, self._grids.depth)

    def add(self, parent: int, count: int = 1) -> Indices:
        """New tasks below a population's root; returns their ids."""
        return self._nodes.sprout(parent, count)

    def _raw_remove_newest(self, count: int) -> None:
        """Take back so many nodes that were added last, of which nothing was learned."""
        self._nodes.forest.cut(count)

    @property
    def num_rewards(self) -> Vector:
        """The number of rewards learned in each population, (P,)."""
        return self._evidence.count.copy()

    @property
    def learned_from(self) -> list[LogTotals]:
        """None: what is assumed is no log's."""
        return []

    def observe(
        self,
        tasks: ArrayLike,
        features: ArrayLike,
        rewards: ArrayLike,
        noise_std: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> None:
        """Learn a batch of rewards; a task may repeat.  A bad batch changes nothing.

        `exposure` is how much each reward was counted over, (E,): the number of trials of
        successes, the time of a count.  It is 1 unless given.
        """
        nodes = self.checked_nodes(tasks)
        table = self.checked_features(features, nodes.size)
        values = real_array("rewards", rewards, nodes.shape, " to match tasks")
        sizes: Vector = np.ones(nodes.size)
        if exposure is not None:
            sizes = checked_exposure(exposure, nodes.shape)
        self._check("rewards", values, sizes)
        checked_time(time, nodes)
        self._learn(nodes, table, values, sizes, None if noise_std is None else np.empty(0))

    def check_rewards(self, name: str, rewards: ArrayLike) -> None:
        """Raise an error that names a reward that the model cannot have."""
        values = np.atleast_1d(real_array(name, rewards, np.shape(rewards)))
        self._check(name, values, np.ones(values.size))

    def _check(self, name: str, values: Vector, sizes: Vector) -> None:
        self.prior.FAMILY.check(name, values, sizes)

    def _raw_observe(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""
        self._learn(nodes, table, rewards, np.ones(nodes.size), noise)

    def _learn(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        exposure: Vector,
        noise: Vector | None,
    ) -> None:
        if noise is not None:
            raise ValueError("noise_std must not be given: the model says how rewards vary")
        self._raw_check_leaves(nodes)
        base, grids = self.prior.FAMILY.log_base(rewards, exposure), self._grids
        grid_events.observe(
            self._arrays, grids.kind, grids.depth, nodes, table, rewards, exposure, base
        )

    def check_totals(self, sums: TaskSums) -> None:
        """Raise an error if rewards of the family cannot have these sums."""
        _check_size("sums", sums.xy, sums.xx)
        check_rewards(sums, self.prior.FAMILY)

    def _raw_learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`.

        The evidence of counts is then up to a number that does not depend on the model.
        """
        self._nodes.state[nodes, 0], self._nodes.state[nodes, 1] = sums.xy, sums.xx
        np.add.at(self._evidence.parts[0], self._nodes.forest.populations(nodes), sums.n)
        self._place_all()

    def revise(self, task: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Replace a reward of exposure 1 that was observed earlier by a corrected one."""
        nodes, arm = self.checked_nodes([task]), int(self.checked_features([features], 1)[0])
        self._raw_check_leaves(nodes)
        node, both = int(nodes[0]), real_array("rewards", [old_reward, new_reward], (2,))
        self._raw_check_revisions([(node, arm, *both.tolist())])
        base, grids = np.diff(self.prior.FAMILY.log_base(both, np.ones(2)))[0], self._grids
        arrays, change = self._arrays, both[1] - both[0]
        grid_events.revise(arrays, grids.kind, grids.depth, node, arm, change, base)

    def _raw_check_revisions(self, events: Sequence[tuple[int, Any, float, float]]) -> None:
        """Raise an error unless `revise` can take these events, one after the other."""
        both = np.array([[old, new] for _, _, old, new in events]).ravel()
        self._check("rewards", both, np.ones(both.size))
        self._nodes.check_changes(self.prior.FAMILY, events)

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        put_back, grids = super()._raw_keep(nodes), self._grids
        trees = np.unique(self._nodes.forest.populations(nodes))
        ranges, logs = grids.ranges[trees], grids.logs[trees]

        def put_all_back() -> None:
            put_back()
            grids.put(trees, ranges, logs)

        return put_all_back

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
        slots = RoundSlots.of(nodes, self._nodes.forest, 2, shared=not fresh, repeats=repeats)
        shape = (slots.node.size, self.dim)
        if rng is None:
            arms = np.tile(np.arange(self.dim), shape[0])
            means = self._raw_predict(np.repeat(slots.node, self.dim), arms, np.arange(arms.size))
            return means.mean.reshape(shape), slots.of_event
        first, second, cells = np.empty(shape), np.empty(shape), np.empty(shape, np.intp)
        grid_answers.draw(
            self._arrays, self._grids.kind, slots.node, slots.parent, rng.random(shape), first,
            second, cells,
        )  # fmt: skip
        below = slots.parent >= 0
        a, b = first[below], second[below]
        is_gamma = self._grids.kind == GAMMA
        first[below] = rng.standard_gamma(a) / b if is_gamma else rng.beta(a, b)
        return first, slots.of_event

    def _raw_predict(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rows: Indices,
        time: Vector | None = None,
    ) -> Prediction:
        """`predict` with arms looked up in a table, unchecked: for rules."""
        out = np.empty((3, nodes.size))
        grid_answers.predict(self._arrays, self._grids.kind, nodes, table, rows, out)
        return Prediction(*out)

    def _raw_interval(
        self, nodes: Indices, arms: Indices, linear: Prediction, reach: float
    ) -> tuple[Vector, Vector]:
        """What arms' mean rewards lie between, as surely as within `reach` deviations."""
        grids, ends = self._grids, np.empty((2, nodes.size))
        grid_answers.refresh_all(self._arrays)
        trees = self._nodes.forest.populations(nodes)
        for e, (node, arm, tree) in enumerate(zip(nodes, arms, trees, strict=True)):
            had, over = self._nodes.state[node, :, arm]
            cells = grids.cells(tree, arm)
            ends[:, e] = mixture_interval(grids.kind, *cells, had, over, ndtr(-reach))
        return ends[0], ends[1]

    def task(self, task: int) -> Gaussian:
        """The mean and the covariance of a task's parameter, or of a root's."""
        mean, within, shared = self._arms_of(task)
        return Gaussian(mean, np.diag(within + shared))

    def uncertainty(self, task: int) -> Uncertainty:
        """A task's covariance, split into its own and what comes from above it."""
        _, within, shared = self._arms_of(task)
        return Uncertainty(np.diag(within), np.diag(shared))

    def _arms_of(self, task: int) -> Prediction:
        """The moments of all arms of a task, or of a root."""
        nodes, arms = np.repeat(self.checked_nodes([task]), self.dim), np.arange(self.dim)
        return self._raw_predict(nodes, arms, arms)

    def hyper_cells(self, arm: int, population: int = 0) -> HyperCells:
        """The joint posterior of an arm's mean and of the width of its tasks."""
        k = int(index_array("arm", [arm], self.dim, "arms")[0])
        p = index_array("population", [population], self.num_populations, "populations")[0]
        grids = self._grids
        grid_answers.refresh_all(self._arrays)
        up, precision, weight = grids.cells(p, k)
        return HyperCells(up if grids.kind == GAMMA else up / (1 + up), precision**-0.5, weight)

    def log_evidence(self) -> Vector:
        """The log marginal probability of all rewards of each population, (P,)."""
        cells: Matrix = logsumexp(self._grids.logs, axis=2) + self._nodes.roots[:, 0]
        log: Vector = self._evidence.parts[1] + cells.sum(axis=1)
        return log

    def copy(self) -> "GridBelief":
        """An independent belief of the same state."""
        twin = self._twin()
        twin._nodes, twin._grids = self._nodes.copy(), self._grids.copy()
        twin._evidence = self._evidence.joined(Evidence.none(0))
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        meta, arrays = self._nodes.saved()
        arrays = arrays | self._grids.saved() | {"evidence": self._evidence.parts}
        law = next(law for law, kind in MODELS.items() if type(self.prior) is kind)
        meta = {"law": law, "prior": self.prior.to_dict()} | meta
        return meta, {name: read_only(array) for name, array in arrays.items()}

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "GridBelief":
        """The belief that `state` described, checked."""
        prior = MODELS[one_of("law", meta["law"], MODELS)].from_dict(meta["prior"])
        nodes = CountNodes.from_saved(meta, arrays)
        trees = nodes.forest.num_populations
        if nodes.state.shape[1:] != (2, prior.dim):
            raise ValueError(f"state must be of {prior}")
        belief = cls.__new__(cls)
        belief.prior, belief._nodes = prior, nodes
        _check_size("state", *(both := nodes.state[: nodes.size].transpose(1, 0, 2)))
        prior.FAMILY.check_totals("state", *both[:, both[1] > 0])
        parts = state_copy("evidence", arrays["evidence"], (3, trees))
        belief._evidence = Evidence.of_parts(parts)
        belief._grids = HyperGrids.from_saved(prior, arrays, trees)
        return belief


def _check_size(name: str, totals: Matrix, over: Matrix) -> None:
    most = LARGEST_COUNT**2
    if ((over < 0) | (totals > most) | (over > most) | ((over == 0) & (totals != 0))).any():
        raise ValueError(f"{name} must hold sums of rewards and of exposures, at most {most:g}")
