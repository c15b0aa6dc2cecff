"""What is known where rewards are not Gaussian: moment matching through the exact recursion."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.folding import fold
from hierbandits.beliefs.mean_reward import MeanReward
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.posterior_past import check_rewards
from hierbandits.beliefs.refit import FIRST_REFIT, MUCH, SWEEPS, TOLERANCE, Refit
from hierbandits.beliefs.site_forms import MATCHES, site_form_of
from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import checked_time, count, positive, read_only, real_array
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.reward_families import family_from_dict
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Indices, Matrix, Vector

_NOT_NEW = np.empty(0)


class MatchedBelief(Belief):
    """A Gaussian approximation of the posterior, given rewards of any family.

    Each reward is one Gaussian site: an observation of its linear predictor x @ theta whose
    precision and value match the moments that the reward gives it (see `kernels.matched_site`).
    So one pass costs O(d^2) per event.  It depends a little on the order of events; `refit` takes
    it out, by expectation propagation.  For that all rewards are kept, with their sites; rewards of
    arms as sums where their family adds up.  All other methods are those of `Belief`, about linear
    predictors; `mean_reward` is about rewards.
    """

    KIND: ClassVar[str] = "matched belief"
    IS_GAUSSIAN: ClassVar[bool] = False
    GROWTH: ClassVar[float] = 1.05  # an agent's belief also refits as rewards grow by so much,
    AGAIN: ClassVar[int] = 1  # with so many sweeps: one is enough where little is new
    _form_of = staticmethod(site_form_of)

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

    def _begin_sites(self, family: RewardFamily) -> None:
        self.family = family
        self._match = MATCHES[self._nodes.levels.form.name]
        self._site_rows = SiteRows(self.dim, armed=self.is_armed, adds_up=family.ADDS_UP)
        self._untold: tuple[Any, ...] | None = None  # events that rows may not know yet
        self.due = FIRST_REFIT  # the rewards at which an agent lets it refit
        self.last_refit: Refit | None = None  # None before the first, and in a loaded belief

    @property
    def _told_rows(self) -> SiteRows:
        """The rewards that it keeps, and their sites."""
        self._site_rows.end_match()
        if self._untold is not None:
            if self._evidence.count.sum() > self._site_rows.num_rewards:
                self._site_rows.add(*self._untold)
            self._untold = None
        return self._site_rows

    @property
    def num_empty_sites(self) -> int:
        """How many of the rows that it keeps told next to nothing, so that they are left out."""
        return self._told_rows.num_empty

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
        sizes: Vector = np.ones(nodes.size)
        if exposure is not None:
            sizes = positive("exposure", exposure, nodes.shape)
        self.family.check("rewards", values, sizes)
        checked_time(time, nodes)
        self._learn_sized(nodes, table, values, sizes, noise_std)

    def check_rewards(self, name: str, rewards: ArrayLike) -> None:
        """Raise an error that names a reward that the family cannot have."""
        values = np.atleast_1d(real_array(name, rewards, np.shape(rewards)))
        self.family.check(name, values, np.ones(values.size))

    def _raw_observe(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        noise: Vector | None = None,
        time: Vector | None = None,
    ) -> None:
        """`observe` of arrays that were checked before."""
        self._learn_sized(nodes, table, rewards, np.ones(nodes.size), noise)

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
        rows, sites = self._told_rows, np.zeros((SITE_PARTS, nodes.size))
        base = self.family.log_base(rewards, exposure)
        self._untold = nodes, table, rewards, exposure, sites, nodes.size
        self._match_sites(nodes, table, rewards, exposure, sites, base)
        rows.add(*self._untold)
        self._untold = None

    def _check_no_noise(self, noise: object) -> None:
        if noise is not None:
            raise ValueError("noise_std must not be given: the family says how rewards vary")

    def _match_sites(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        exposure: Vector,
        sites: Matrix,
        base: Vector = _NOT_NEW,
    ) -> float:
        """Let sites match their rewards; returns how far a linear predictor moved."""
        moved: float = self._match(
            self._nodes.arrays, nodes, table, rewards, exposure, self.family.shape,
            self.family.code, sites, self._evidence.parts, self.num_levels, base,
        )  # fmt: skip
        return moved

    _raw_observe_one = Posterior._raw_observe_one

    def refit(self, *, sweeps: int = SWEEPS, tolerance: float = TOLERANCE) -> Refit:
        """Match the site of every reward again, given all others, until none moves any more.

        This is expectation propagation: the result does not depend on the order of rewards, up to
        the tolerance.  A sweep costs what it costs to observe the rows once.
        """
        sweeps = count("sweeps", sweeps, least=1)
        tolerance = float(positive("tolerance", tolerance, ()))
        trees, change, done = np.arange(self.num_populations), 0.0, 0
        work = self.copy()  # of which an interrupt leaves nothing
        rows = work._told_rows
        while done < sweeps and rows.size and (done == 0 or change > tolerance):
            change = work._match_sites(
                rows.nodes, rows.features, rows.rewards, rows.exposure, rows.all_sites
            )
            done += 1
        before, after = self._hyper_moments(trees), work._hyper_moments(trees)
        self._take(work, max(1.0, self.GROWTH * self._evidence.count.sum()))
        self.last_refit = Refit.between(before, after, done, change, tolerance)
        return self.last_refit

    def _take(self, work: "MatchedBelief", due: float) -> None:
        """Have the numbers of another belief in the same rewards."""
        old, new, parts, size = self._nodes, work._nodes, self._evidence.parts, self._nodes.size
        rows, sites, mine = self._told_rows, work._told_rows.sites, self._told_rows.sites
        # At once: no interrupt comes between the parts of an assignment that calls nothing.
        old.state[:size], old.roots[:], parts[:], mine[:], self.due, rows.news = (
            *(new.state[:size], new.roots, work._evidence.parts, sites, due, None),
        )

    def _hyper_moments(self, populations: Indices) -> tuple[Matrix, Matrix]:
        """The means and standard deviations of the populations' root parameters, (P, d) each."""
        mean, cov = self._nodes.root_moments(populations)
        var = cov if self.is_diagonal else np.diagonal(cov, axis1=1, axis2=2)
        return mean, np.sqrt(var)

    def _raw_mean_reward(self, mean: Vector, std: Vector) -> MeanReward:
        """What mean rewards are like if their linear predictors have these moments."""
        return MeanReward(*self.family.mean_and_std(mean, std))

    def _raw_linked(self, values: Vector) -> Vector:
        """The mean rewards of linear predictors x @ theta, which are in the same order."""
        return self.family.mean(values)

    def check_past(self, num_tasks: int, sums: TaskSums) -> None:
        """Raise an error unless `_raw_learn_past` can take these sums, for so many tasks."""
        if len(sums.n) and not (self.is_armed and self.family.ADDS_UP):
            raise ValueError(
                f"sums must be of arms whose {self.family.NAME} rewards add up: observe the events"
            )
        super().check_past(num_tasks, sums)

    def check_totals(self, sums: TaskSums) -> None:
        """Raise an error if rewards of the family cannot have these sums."""
        if self.is_armed and self.family.ADDS_UP:
            check_rewards(sums, self.family)

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

    def _learn_rows(
        self, nodes: Indices, table: Matrix | Indices, rewards: Vector, exposure: Vector
    ) -> None:
        """Learn rewards or sums of rewards, each as one."""
        sites = np.zeros((SITE_PARTS, nodes.size))
        self._match_sites(nodes, table, rewards, exposure, sites, np.zeros(nodes.size))
        self._site_rows.add(nodes, table, rewards, exposure, sites, 0)

    def _count(self, counted: Indices, nodes: Indices, number: Vector) -> None:
        """Let there be so many rewards of each node, in place of one for each that was counted."""
        forest, parts = self._nodes.forest, self._evidence.parts
        for each, more in ((nodes, number), (counted, -np.ones(counted.size))):
            trees = np.array([forest.population(node) for node in each.tolist()], np.intp)
            np.add.at(parts[0], trees, more)
            np.add.at(parts[1], trees, -np.log(2 * np.pi) * more)
        self._site_rows.num_rewards = int(parts[0].sum())

    def _raw_settle(self) -> None:
        """Refit if rewards have grown since the last time; else the tasks of the last rewards."""
        if (number := self._evidence.count.sum()) >= self.due:
            is_new = self.due == FIRST_REFIT or self.GROWTH * number >= MUCH * self.due
            self.refit(sweeps=SWEEPS if is_new else self.AGAIN)
        else:
            self._told_rows.match_news(self._match_sites)

    def revise(
        self,
        task: int,
        features: Any,
        old_reward: float,
        new_reward: float,
        noise_std: float | None = None,
    ) -> None:
        """Replace a reward of exposure 1 that was observed earlier by a corrected one, in O(d^2).

        Its site matches the new reward given all other sites; `refit` lets these follow.
        """
        self._check_no_noise(noise_std)
        node, row = int(self.checked_nodes([task])[0]), self.checked_features([features], 1)[0]
        both, rows = real_array("rewards", [old_reward, new_reward], (2,)), self._told_rows
        self.family.check("rewards", both, np.ones(2))
        place = rows.find(node, row, both[0])
        one = slice(place, place + 1)
        after, exposure = rows.rewards[one] + (both[1] - both[0]), rows.exposure[one].copy()
        self.family.check_totals("old_reward's sum", after, exposure)
        base = np.diff(self.family.log_base(both, np.ones(2)))[0]
        sites = rows.sites[:, one].copy()
        self._match_sites(rows.nodes[one], rows.features[one], after, exposure, sites)
        rows.rewards[one], rows.sites[:, one] = after, sites
        self._evidence.parts[1, self._nodes.forest.population(node)] -= 2 * base

    def _raw_can_revise(self, *event: Any) -> bool:
        """Always: sites leave enough digits."""
        return True

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        put_back, rows = super()._raw_keep(nodes), self._told_rows
        places = np.flatnonzero(np.isin(rows.nodes, nodes))
        rewards, sites = rows.rewards[places], rows.sites[:, places]

        def put_all_back() -> None:
            put_back()
            rows.rewards[places], rows.sites[:, places] = rewards, sites

        return put_all_back

    def copy(self) -> "MatchedBelief":
        """An independent belief of the same state."""
        twin, rows = self._twin(), self._told_rows.copy()
        twin._nodes, twin._evidence, twin._site_rows = self._nodes.copy(), self.evidence, rows
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        rows = self._told_rows.state()
        meta, arrays = super().state()
        own = {name: read_only(array) for name, array in rows.items()}
        return {"rewards": self.family.to_dict(), "due": self.due, **meta}, arrays | own

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
        belief.due = float(positive("due", meta["due"], ()))
        rows = belief._site_rows
        rows._take_state(arrays, plain.num_nodes, int(plain.num_rewards.sum()))
        belief.checked_features(rows.features, rows.size)
        return belief
