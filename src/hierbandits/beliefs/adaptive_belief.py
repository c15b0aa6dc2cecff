"""What is known when widths are unknown: a belief whose widths are fitted as rewards come in."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.forms import form_of_fits
from hierbandits.beliefs.growing_sums import GrowingSums
from hierbandits.beliefs.review import Review
from hierbandits.beliefs.revision import Revision, sums_leave_digits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import WidthRefit, most_rewarded
from hierbandits.checks import index_array, read_only, state_copy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Indices, Matrix, Vector

FEW_REWARDS = 1000
GROWTH, LATE_GROWTH = 1.1, 1.5
"""Widths are fitted again when rewards have grown by so much, up to FEW_REWARDS and beyond."""

WORK = 1_000_000.0
"""The multiplications that one call may spend on a look at the widths: some milliseconds."""

EVENTS_PER_CALL = 64  # a larger batch may spend more


class AdaptiveBelief(Belief):
    """The exact posterior under widths, correlations and a noise that are fitted to the rewards.

    At any time it is a `Belief`.  When its rewards have grown by a tenth, or later by half, it
    looks at the sums of all tasks, fits the widths (see `WidthRefit`), and starts over from the
    sums.  With one population the work of a look is spread over calls, so that none takes long.

    A call that is interrupted has observed all of its rewards or none, and the look that was under
    way then begins anew: who works on it takes it out of `_review`, and puts it back in the end.
    """

    KIND: ClassVar[str] = "adaptive belief"
    FITS_WIDTHS: ClassVar[bool] = True
    _form_of = staticmethod(form_of_fits)

    def __init__(
        self,
        prior: UnknownWidths,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if not isinstance(prior, UnknownWidths):
            raise ValueError(f"prior must be UnknownWidths, got {prior!r}")
        if hyper_means is not None:
            raise ValueError("hyper_means must not be given: they are the prior's, of all runs")
        super().__init__(prior.hierarchy(), num_tasks, num_populations, population=population)
        self.prior = prior
        self._task_sums = GrowingSums(
            TaskSums.zeros(self.num_nodes, prior.dim, armed=prior.is_armed)
        )
        self.due: Vector = np.ones(self.num_populations)  # the rewards at which to look next
        self._review: Review | None = None
        self._untold: tuple[Any, Any, Any] | None = None  # events that sums may not know yet

    @property
    def sums(self) -> TaskSums:
        """The sums of all rewards, with a row for each node; a copy."""
        return self._own_sums.rows(np.arange(self.num_nodes))

    @property
    def _own_sums(self) -> TaskSums:
        """The sums themselves, with a row for each node at least."""
        self._tell_sums()
        self._task_sums.make_room(self.num_nodes)
        return self._task_sums.settled()

    def _tell_sums(self) -> None:
        """Add events to the sums that nodes know, if an interrupt came between the two."""
        if self._untold is not None:
            if self._evidence.count.sum() > self._task_sums.n.sum():
                self._task_sums.add(*self._untold)
            self._untold = None

    def hierarchy(self, population: int = 0) -> GaussianHierarchy:
        """The hierarchy that is believed now, its widths fitted to the rewards so far."""
        row = index_array("population", [population], self.num_populations, "populations")[0]
        levels, forest = self._nodes.levels, self._nodes.forest
        return levels.hierarchies[levels.root_rows().index(int(forest.level[forest.root[row]]))]

    def add(self, parent: int, count: int = 1) -> Indices:
        """New tasks below a population's root; returns their ids."""
        review, self._review = self._review, None
        try:
            added = super().add(parent, count)
        except ValueError:
            self._review = review
            raise
        if review is not None and review.belief is not None:
            review.belief.add(parent, count)
        self._review = review
        return added

    def _raw_remove_newest(self, count: int) -> None:
        """Take back so many nodes that were added last, of which nothing was learned."""
        review, self._review = self._review, None
        super()._raw_remove_newest(count)
        if review is not None and review.belief is not None:
            review.belief._raw_remove_newest(count)
            review.folded = min(review.folded, self.num_nodes)
        self._review = review

    def add_populations(self, *_: Any, **__: Any) -> Indices:
        """Refused: populations with widths of their own are given at the start."""
        raise ValueError("populations must be given at the start where widths are unknown")

    @property
    def learned_from(self) -> list[LogTotals]:
        """The totals of the log that the prior's mean already holds."""
        return [] if self.prior.learned_from is None else [self.prior.learned_from]

    def _raw_observe(
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
        self._raw_check_leaves(nodes)  # widths are fitted to the sums of tasks
        sums, review = self._own_sums, self._review
        self._review, self._untold = None, (nodes, table, rewards)
        super()._raw_observe(nodes, table, rewards)
        sums._raw_add(nodes, table, rewards)
        self._untold = None
        if review is not None and review.belief is not None:
            told = review.knows(nodes)
            review.belief._raw_observe(nodes[told], table[told], rewards[told])
        self._look(review, WORK * max(1.0, nodes.size / EVENTS_PER_CALL))

    def _raw_observe_one(self, node: int, features: Any, reward: float) -> None:
        """`_raw_observe` of one event, with features (d,) or an arm's index."""
        forest, review = self._nodes.forest, self._review
        if forest.parent[node] < 0:
            self._raw_check_leaves(np.array([node]))
        if self._untold is not None:
            self._tell_sums()
        self._task_sums.make_room(forest.size)
        self._review, self._untold = None, (node, features, reward)
        super()._raw_observe_one(node, features, reward)
        self._task_sums.add_one(node, features, reward)
        self._untold = None
        if review is not None and review.belief is not None and node < review.folded:
            review.belief._raw_observe_one(node, features, reward)
        # That of the first population is told at once; those of others by `_look`.
        if review is not None or len(self.due) > 1 or self._evidence.parts[0, 0] >= self.due[0]:
            self._look(review, WORK)

    def _raw_learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`."""
        self._own_sums._put(nodes, sums)
        population = self._nodes.forest.populations(nodes)
        self._refit(np.unique(population[sums.n > 0]))

    def revise(
        self,
        task: int,
        features: Any,
        old_reward: float,
        new_reward: float,
        noise_std: float | None = None,
    ) -> None:
        """Replace a reward that was observed earlier by a corrected one."""
        if noise_std is not None:
            raise ValueError("noise_std must not be given: all rewards of this belief share one")
        node = int(self.checked_nodes([task])[0])
        self._raw_check_revisions([(node, features, old_reward, new_reward)])
        review, self._review = self._review, None
        try:
            super().revise(node, features, old_reward, new_reward)
        except ValueError:
            self._review = review
            raise
        row = self.checked_features([features], 1)[0]
        self._own_sums.revise(node, row, float(old_reward), float(new_reward))
        if review is not None and review.belief is not None and node < review.folded:
            nodes, evidence = review.belief._nodes, review.belief._evidence
            Revision.of(nodes, evidence, node, row, float(old_reward), float(new_reward)).make()
        self._review = review

    def _raw_check_revisions(self, events: Sequence[tuple[int, Any, float, float]]) -> None:
        """Raise an error unless the tasks of these events have had rewards."""
        for node, _, _, _ in events:
            if self._own_sums.n[node] == 0:
                raise ValueError(f"task must be one that has had a reward, got {node}")

    def _raw_can_revise(self, *event: Any) -> bool:
        """Whether `revise` leaves enough digits; if not, it refuses.  See `Revision.of`."""
        _, _, old, new, *_ = event
        return super()._raw_can_revise(*event) and sums_leave_digits(self._own_sums, old, new)

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        put_back, rows = super()._raw_keep(nodes), self._own_sums.rows(nodes)

        def put_all_back() -> None:
            put_back()
            self._own_sums._put(nodes, rows)
            self._review = None

        return put_all_back

    def _look(self, review: Review | None, work: float) -> None:
        """Fit the widths of populations that are due; of a single one, as far as `work` goes.

        `review` is the look that was under way.
        """
        count = self._evidence.count
        if review is None and not (count >= self.due).any():
            return
        if self.num_populations > 1:
            self._refit(np.flatnonzero(count >= self.due))
            return
        if review is None:
            tasks = self._task_sums.rows(most_rewarded(self._task_sums.n, self.prior))
            refit = WidthRefit(self.prior, tasks, self._fitted(0))
            review = Review(refit, self._due_after(count))
        self._task_sums.make_room(self.num_nodes)
        if review.advance(self, self._task_sums, work):
            built, due = review.belief, review.due
            assert built is not None  # all is done
            # A look that is lost before this has never been: it is due still.
            self._nodes, self._evidence, self.due = built._nodes, built._evidence, due
        else:
            self._review = review

    def _refit(self, populations: Indices) -> None:
        """Fit the widths of some populations at once, and start them over from the sums."""
        if not populations.size:
            return
        parent = self._nodes.forest.parent[: self.num_nodes]
        of_node = np.where(parent >= 0, ~parent[parent], -1)
        order = np.argsort(of_node, kind="stable")
        ends = np.searchsorted(of_node[order], populations, side="right")
        starts = np.searchsorted(of_node[order], populations)
        hierarchies, sums = [], self._own_sums
        same: dict[tuple[object, ...], GaussianHierarchy] = {}
        for p, start, stop in zip(populations.tolist(), starts, ends, strict=True):
            tasks = order[start:stop]
            tasks = tasks[most_rewarded(sums.n[tasks], self.prior)]
            rows = sums.rows(tasks)
            key = self._fitted(p), *(values.tobytes() for values in rows.state().values())
            if key not in same:  # runs of a simulation may begin with the same log
                same[key] = self._fit(rows, self._fitted(p))
            hierarchies.append(same[key])
        self._restart(populations, hierarchies, sums)
        self.due[populations] = self._due_after(self._evidence.count[populations])

    def _fit(self, rows: TaskSums, before: GaussianHierarchy | None) -> GaussianHierarchy:
        """The hierarchy that is to be believed after these sums."""
        refit = WidthRefit(self.prior, rows, before)
        refit.advance()
        return refit.hierarchy()

    def _fitted(self, population: int) -> GaussianHierarchy | None:
        """The present hierarchy of a population, if it was fitted to some rewards."""
        return self.hierarchy(population) if self.due[population] > 1 else None

    def _due_after(self, count: Vector) -> Vector:
        """The rewards at which to look next, after a look at so many."""
        return rewards_due_after(count)

    def copy(self) -> "AdaptiveBelief":
        """An independent belief of the same state; a look that is under way is ended."""
        self._end_look()
        twin = self._twin()
        twin._nodes, twin._evidence, twin.due = self._nodes.copy(), self.evidence, self.due.copy()
        twin._task_sums = GrowingSums(self._own_sums.rows(np.arange(self.num_nodes)))
        return twin

    def _end_look(self) -> None:
        self._tell_sums()
        review, self._review = self._review, None
        if review is not None:
            self._look(review, np.inf)

    @property
    def is_looking(self) -> bool:
        """Whether a look is under way."""
        return self._review is not None

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies; a look that is under way is ended."""
        self._end_look()
        meta, arrays = super().state()
        sums = self._own_sums.rows(slice(self.num_nodes))
        own = {name: read_only(array) for name, array in (sums.state() | {"due": self.due}).items()}
        return {"widths": self.prior.to_dict(), **meta}, arrays | own

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "AdaptiveBelief":
        """The belief that `state` described, checked."""
        prior = UnknownWidths.from_dict(meta["widths"])
        plain = Belief.from_state(meta, arrays)
        levels = plain._nodes.levels
        if (levels.dim, levels.is_armed, levels.num_levels) != (prior.dim, prior.is_armed, 2):
            raise ValueError(f"hierarchies must have the form of {prior}")
        form = form_of_fits([prior.hierarchy()])
        if levels.form is not form:
            raise ValueError(
                f"hierarchies must have the form of {prior}, which is {form.name}, "
                f"got {levels.form.name}"
            )
        belief = cls(prior, num_populations=plain.num_populations)
        belief._nodes, belief._evidence = plain._nodes, plain._evidence
        sums = TaskSums.from_state(arrays, prior.dim, armed=prior.is_armed)
        sums = sums.rows(np.arange(len(sums.n)))
        if len(sums.n) != belief.num_nodes:
            raise ValueError(f"sums must have {belief.num_nodes} rows, got {len(sums.n)}")
        if sums.n.sum() != plain.num_rewards.sum():
            raise ValueError(f"sums must be of {plain.num_rewards.sum():g} rewards")
        belief._task_sums = GrowingSums(sums)
        belief.due = state_copy("due", arrays["due"], (plain.num_populations,))
        if (belief.due < 1).any():
            raise ValueError("due must be numbers of rewards, at least 1")
        return belief


def rewards_due_after(count: Vector) -> Vector:
    """The rewards at which to look at widths again, after a look at so many."""
    growth = np.where(count < FEW_REWARDS, GROWTH, LATE_GROWTH)
    due: Vector = np.maximum(np.ceil(growth * count), count + 1)
    return due
