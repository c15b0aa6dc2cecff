"""What keeps rewards of a family with their sites, and lets these match: all but when they do."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.mean_reward import MeanReward
from hierbandits.beliefs.posterior_past import check_rewards
from hierbandits.beliefs.refit import FIRST_REFIT, Refit
from hierbandits.beliefs.site_forms import MATCHES, site_form_of
from hierbandits.beliefs.site_revision import SETTLED, SiteRevision, check_revisions
from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array
from hierbandits.kernels.family_call import FamilyCode
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Indices, Matrix, Vector

_NOT_NEW = np.empty(0)


class SiteBelief(Belief):
    """A belief whose rewards are of a family; each has a Gaussian site, see `MatchedBelief`.

    It knows how sites match, and how a reward is replaced.  `MatchedBelief` says when.
    """

    IS_GAUSSIAN: ClassVar[bool] = False
    _form_of = staticmethod(site_form_of)

    def _begin_sites(self, family: RewardFamily) -> None:
        self.family = family
        self._match = MATCHES[self._nodes.levels.form.name]
        self._site_rows = SiteRows(self.dim, armed=self.is_armed, adds_up=family.ADDS_UP)
        self._untold: tuple[Any, ...] | None = None  # events that rows may not know yet
        self._ones: Vector = np.ones(0)  # exposures, made once: nobody writes them
        self._surprise: Matrix | None = None  # how far the last rewards moved what is known
        self.due = np.full(self.num_populations, FIRST_REFIT)  # the rewards at which it sweeps
        self.swept: Vector = np.zeros(self.num_populations)  # those at which it last did
        self.last_refit: Refit | None = None  # None before the first, and in a loaded belief

    @cached_property
    def _family_code(self) -> FamilyCode:
        """Where the family's functions lie, for kernels."""
        return self.family.code

    @property
    def _told_rows(self) -> SiteRows:
        """The rewards that it keeps, and their sites."""
        self._site_rows.end_match()
        if self._untold is not None:
            if self._evidence.count.sum() > self._site_rows.num_rewards:
                self._site_rows.add(*self._untold)
            self._untold = None
        return self._site_rows

    def _one_each(self, number: int) -> Vector:
        """The exposures of so many single rewards; for reading alone."""
        if self._ones.size < number:
            self._ones = np.ones(number)
        return self._ones[:number]

    def _no_moves(self) -> Matrix:
        return np.zeros((2, self.num_populations))

    def _all_due(self) -> Vector:
        """`due`, with populations that were added since."""
        if (new := self.num_populations - self.due.size) > 0:
            self.due = np.append(self.due, np.full(new, FIRST_REFIT))
            self.swept = np.append(self.swept, np.zeros(new))
        return self.due

    @property
    def num_empty_sites(self) -> int:
        """How many of the rows that it keeps told next to nothing, so that they are left out."""
        return self._told_rows.num_empty

    def check_rewards(self, name: str, rewards: ArrayLike) -> None:
        """Raise an error that names a reward that the family cannot have."""
        values = np.atleast_1d(real_array(name, rewards, np.shape(rewards)))
        self.family.check(name, values, np.ones(values.size))

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
        furthest: Matrix | None = None,
    ) -> Matrix:
        """Let sites match their rewards; how far predictors of each population moved, (2, P).

        That is the furthest of them, and of what they share with other tasks.  It is filled in
        where it is given, so that an interrupt does not lose it.
        """
        if furthest is None:
            furthest = self._no_moves()
        has_numbers = self._match(
            self._nodes.arrays, nodes, table, rewards, exposure, self.family.shape,
            self._family_code, sites, self._evidence.parts, self.num_levels, base, furthest,
        )  # fmt: skip
        if not has_numbers:
            self.family.check_numbers(sites[2], rewards, exposure)
        return furthest

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

    def revise(
        self,
        task: int,
        features: Any,
        old_reward: float,
        new_reward: float,
        noise_std: float | None = None,
    ) -> None:
        """Replace a reward of exposure 1 that was observed earlier by a corrected one, in O(d^2).

        Its site matches the new reward given all other sites; `refit` lets these follow.  A settled
        site is tilted: see `SiteRevision`.
        """
        self._check_no_noise(noise_std)
        node, x = int(self.checked_nodes([task])[0]), self.checked_features([features], 1)
        both, rows = real_array("rewards", [old_reward, new_reward], (2,)), self._told_rows
        change = SiteRevision.of(self.family, rows, node, x[0], both)
        log_change, tilt, one = change.base, change.tilt, slice(change.row, change.row + 1)
        if change.row == SETTLED:
            known = self._raw_predict(np.array([node]), x, np.zeros(1, np.intp))
            log_change += float((tilt * known.mean + (tilt * known.std) ** 2 / 2)[0])
            self._kernels.shift(self._nodes.arrays, node, x[0], tilt)
            rows.settled.tilt(node, x[0], tilt)
        else:
            after, exposure = rows.rewards[one] + (both[1] - both[0]), rows.exposure[one].copy()
            sites = rows.sites[:, one].copy()
            self._match_sites(rows.nodes[one], rows.features[one], after, exposure, sites)
            rows.rewards[one], rows.sites[:, one] = after, sites
        tree, due = self._nodes.forest.population(node), self._all_due()
        self._evidence.parts[1, tree] -= 2 * log_change
        rows.tell(node)
        if due[tree] != FIRST_REFIT:  # it counts as a reward
            due[tree] = max(1.0, due[tree] - 1.0)
            self.swept[tree] -= 1.0

    def _raw_check_revisions(self, events: Sequence[tuple[int, Any, float, float]]) -> None:
        """Raise an error unless `revise` can take these events, one after the other."""
        check_revisions(self.family, self._told_rows, events)

    def _raw_can_revise(self, *event: Any) -> bool:
        """Always: sites leave enough digits."""
        return True

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        put_back, rows = super()._raw_keep(nodes), self._told_rows
        places = np.flatnonzero(np.isin(rows.nodes, nodes))
        rewards, sites, put_settled_back = (
            *(rows.rewards[places], rows.sites[:, places]),
            rows.settled.keep(nodes),
        )
        due, swept, news = self._all_due().copy(), self.swept.copy(), rows.news

        def put_all_back() -> None:
            put_back()
            put_settled_back()
            self.due[:], self.swept[:], rows.news = due, swept, news
            rows.rewards[places], rows.sites[:, places] = rewards, sites

        return put_all_back
