"""What is known where rewards are not Gaussian: moment matching through the exact recursion."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.folding import fold
from hierbandits.beliefs.match_all import match_all
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.refit import (
    CALM,
    FEW_SWEEPS,
    FIRST_REFIT,
    SURPRISE,
    SWEEPS,
    TOLERANCE,
    Refit,
    hyper_moves,
    much_is_new,
    surprise_due,
)
from hierbandits.beliefs.site_belief import SiteBelief
from hierbandits.beliefs.site_forms import MATCHES
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import checked_time, count, positive, read_only, real_array, state_array
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.reward_families import family_from_dict
from hierbandits.models.reward_family import checked_exposure
from hierbandits.types import Indices, Mask, Matrix, Vector


class MatchedBelief(SiteBelief):
    """A Gaussian approximation of the posterior, given rewards of any family.

    Each reward is one Gaussian site: an observation of its linear predictor x @ theta whose
    precision and value match the moments that the reward gives it (see `kernels.matched_site`).
    So one pass costs O(d^2) per event.  It depends a little on the order of events; `refit` takes
    it out, by expectation propagation.  For that all rewards are kept, with their sites; rewards of
    arms as sums where their family adds up.  All other methods are those of `Belief`, about linear
    predictors; `mean_reward` is about rewards.
    """

    KIND: ClassVar[str] = "matched belief"
    GROWTH: ClassVar[float] = 1.05  # an agent's belief sweeps again as rewards grow by so much

    def __init__(
        self,
        prior: GeneralizedHierarchy,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if not isinstance(prior, GeneralizedHierarchy):
            raise ValueError(f"prior must be a GeneralizedHierarchy, got {prior!r:.80}")
        inner = prior.hierarchy
        super().__init__(inner, num_tasks, num_populations, hyper_means, population=population)
        self._begin_sites(prior.rewards)

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

        `exposure` is how much each reward was counted over, (E,): the number of trials of a
        binomial reward, the time of a count.  It is 1 unless given.
        """
        nodes = self.checked_nodes(tasks)
        table = self.checked_features(features, nodes.size)
        values = real_array("rewards", rewards, nodes.shape, " to match tasks")
        if exposure is None:
            sizes = self._one_each(nodes.size)
        else:
            sizes = checked_exposure(exposure, nodes.shape)
        self.family.check("rewards", values, sizes)
        checked_time(time, nodes)
        self._learn_sized(nodes, table, values, sizes, noise_std)

    def _raw_observe(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""
        self._learn_sized(nodes, table, rewards, self._one_each(nodes.size), noise)

    def _learn_sized(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        exposure: Vector,
        noise: object,
    ) -> None:
        """Learn checked rewards of these exposures."""
        self._check_no_noise(noise)
        rows, sites = self._told_rows, np.empty((SITE_PARTS, nodes.size))
        base = self.family.log_base(rewards, exposure)
        untold = nodes, table, rewards, exposure, sites, nodes.size
        self._untold, self._surprise = untold, self._no_moves()
        match_all(self, nodes, table, rewards, exposure, sites, base, self._surprise)
        rows.add(*self._untold)
        self._untold = None

    _raw_observe_one = Posterior._raw_observe_one

    def refit(self, *, sweeps: int = SWEEPS, tolerance: float = TOLERANCE) -> Refit:
        """Match the site of every reward again, given all others, until none moves any more.

        This is expectation propagation: the result does not depend on the order of rewards, up to
        the tolerance.  A sweep costs what it costs to observe the rows once.
        """
        sweeps = count("sweeps", sweeps, least=1)
        tolerance = float(positive("tolerance", tolerance, ()))
        trees, work = np.arange(self.num_populations), self.copy()  # an interrupt leaves nothing
        report = work._match_all(trees, tolerance, sweeps)
        self._take(work)
        self.last_refit = report
        return report

    def _match_all(self, trees: Indices, tolerance: float, most: int) -> Refit:
        """Match the sites of all rewards of populations again and again.

        A population is done when neither its hyper-posterior nor any linear predictor moves by more
        than the tolerance.
        So it does not depend on others what is believed of it.
        """
        rows, left, change, done = self._told_rows, trees, 0.0, 0
        first = known = self._hyper_moments(trees)
        while done < most and left.size and rows.size:
            moved, _ = self._match_again(self._rows_of(left))
            before, known = known, self._hyper_moments(trees)
            # Many rows move what they share although each of them hardly moves at all.
            moves = np.maximum(moved[trees], hyper_moves(before, known))
            left, change, done = trees[moves > tolerance], float(moves.max()), done + 1
        told = self._evidence.count[trees]
        self.due[trees], self.swept[trees] = np.maximum(1.0, self.GROWTH * told), told
        return Refit.between(first, known, done, change, tolerance)

    def _match_again(self, places: Indices) -> Matrix:
        """Let the sites of some rows match anew; how far predictors moved, as `_match_sites`."""
        return self._told_rows.match_again(places, self._match_sites, self._no_moves())

    def _rows_of(self, trees: Indices) -> Indices:
        """The rows of all rewards of some populations."""
        rows = self._told_rows
        if trees.size == self.num_populations:
            return np.arange(rows.size)
        is_one = np.zeros(self.num_populations, np.bool_)
        is_one[trees] = True
        places: Indices = np.flatnonzero(is_one[self._nodes.forest.populations(rows.nodes)])
        return places

    def _raw_settle(self) -> None:
        """Let the last rewards' tasks match again; and all of their population, if that is due.

        It is where rewards have grown, and where the last ones were a surprise.
        """
        known, due, rows = self._evidence.count, self._all_due(), self._told_rows
        is_due: Mask = known >= due
        if not is_due.all():
            is_due |= self._surprised(is_due)
        if is_due.any():
            much = is_due & much_is_new(known, due, self.GROWTH)
            for which, tolerance, most in (
                (much, TOLERANCE, SWEEPS),
                (is_due & ~much, CALM, FEW_SWEEPS),
            ):
                if which.any():
                    work = self.copy()  # of which an interrupt leaves nothing
                    report = work._match_all(np.flatnonzero(which), tolerance, most)
                    self._take(work)
                    self.last_refit = report
        self._surprise, rows.news, rows.moved = None, None, None

    def _surprised(self, is_due: Mask) -> Mask:
        """Let the last rewards' tasks match again, but for populations that are due.

        Returns where that is not enough: sites, or what tasks share, moved so far that other sites
        must match again, too.
        """
        rows, surprise = self._told_rows, self._surprise
        if rows.news is not None:
            news = rows.news
            if is_due.any():
                news = news[~is_due[self._nodes.forest.populations(news)]]
            self._match_again(rows.of_nodes(news))
        moved: Vector = np.zeros(is_due.size) if rows.moved is None else rows.moved[0]
        if surprise is not None:
            moved = np.maximum(moved, surprise[1])
        if not (moved > SURPRISE).any():
            return np.zeros(is_due.size, np.bool_)
        sizes = np.bincount(self._nodes.forest.populations(rows.nodes), minlength=is_due.size)
        is_stale: Mask = (moved > SURPRISE) & (self.due != FIRST_REFIT)
        soon = np.minimum(self.due, surprise_due(sizes, self.swept))
        self.due[is_stale] = soon[is_stale]
        is_stale &= self._evidence.count >= soon
        return is_stale

    def _take(self, work: "MatchedBelief") -> None:
        """Have the numbers of another belief in the same rewards."""
        old, new, parts, size = self._nodes, work._nodes, self._evidence.parts, self._nodes.size
        rows, sites, mine = self._told_rows, work._told_rows.sites, self._told_rows.sites
        none = None, None, None
        # At once: no interrupt comes between the parts of an assignment that calls nothing.
        (
            old.state[:size],
            old.roots[:],
            parts[:],
            mine[:],
            self.due,
            self.swept,
            (
                self._surprise,
                rows.news,
                rows.moved,
            ),
        ) = (
            *(new.state[:size], new.roots, work._evidence.parts, sites, work.due, work.swept),
            none,
        )

    def _hyper_moments(self, populations: Indices) -> tuple[Matrix, Matrix]:
        """The means and standard deviations of the populations' root parameters, (P, d) each."""
        mean, cov = self._nodes.root_moments(populations)
        var = cov if self.is_diagonal else np.diagonal(cov, axis1=1, axis2=2)
        return mean, np.sqrt(var)

    def _raw_learn_past(self, nodes: Indices, sums: TaskSums) -> None:
        """Learn whole sums, a row for each node, before any other reward; see `check_past`.

        Its evidence is up to a number that does not depend on the model.
        """
        row, arms = map(np.ascontiguousarray, np.nonzero(sums.xx > 0)[:2])
        totals, exposure = sums.xy[row, arms].copy(), sums.xx[row, arms].copy()
        self._learn_rows(nodes[row], arms, totals, exposure)
        self._count(nodes[row], nodes, sums.n)
        self.refit()

    def _raw_start_over(
        self, old: Posterior, before: Indices, after: Indices, sums: TaskSums
    ) -> None:
        """Learn all that nodes `before` of another belief know, in nodes `after` of this one."""
        if self.is_armed and self.family.ADDS_UP:
            super()._raw_start_over(old, before, after, sums)
            return
        assert isinstance(old, MatchedBelief)  # of the same agent
        rows, place = old._told_rows, np.full(old.num_nodes, -1)
        place[before] = after
        kept = np.flatnonzero(place[rows.nodes] >= 0)
        nodes = place[rows.nodes[kept]]
        settled = rows.settled.moved(before, after, self.dim)
        if kept.size + settled.number != sums.n.sum():
            raise ValueError(
                f"task must not share its node with others to be forgotten, got one of {kept.size} "
                f"rewards: which are others', sums of {self.family.NAME} rewards do not tell"
            )
        self._site_rows.settled, told = settled, settled.sums(self.num_nodes)
        fold(self._nodes, after[told.n[after] > 0], told.rows(after[told.n[after] > 0]))
        self._learn_rows(nodes, rows.features[kept], rows.rewards[kept], rows.exposure[kept])
        self._count(nodes, after, sums.n)
        self.refit()

    def copy(self) -> "MatchedBelief":
        """An independent belief of the same state."""
        twin, rows = self._twin(), self._told_rows.copy()
        twin._nodes, twin._evidence, twin._site_rows = self._nodes.copy(), self.evidence, rows
        twin.due, twin.swept = self._all_due().copy(), self.swept.copy()
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        own = {name: read_only(array) for name, array in self._told_rows.state().items()}
        meta, arrays = super().state()
        times = {"due": self._all_due().tolist(), "swept": self.swept.tolist()}
        return {"rewards": self.family.to_dict(), **times, **meta}, arrays | own

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "MatchedBelief":
        """The belief that `state` described, checked."""
        family = family_from_dict(dict(meta["rewards"]))
        plain = Belief.from_state(meta, arrays)
        if plain._nodes.levels.form.name not in MATCHES:
            raise ValueError("coordinates must be of full covariances, got arms in common")
        belief = cls.__new__(cls)
        belief.__dict__.update(plain.__dict__)
        belief._begin_sites(family)
        due = np.broadcast_to(np.asarray(meta["due"]), belief.due.shape)  # of old files: one
        belief.due = positive("due", due, belief.due.shape).copy()
        swept = meta.get("swept", (belief.due / cls.GROWTH).tolist())
        belief.swept = state_array("swept", swept, belief.due.shape).copy()
        rows = belief._site_rows
        rows._take_state(arrays, plain.num_nodes, int(plain.num_rewards.sum()))
        belief.checked_features(rows.features, rows.size)
        return belief
