"""Trains on groups of a log's rows, each prior fitted once."""

from collections.abc import Iterable

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.evaluation.arm_features import with_features
from hierbandits.evaluation.reward_model import RewardModel, Stated
from hierbandits.evaluation.training import PriorFit, Training
from hierbandits.logs import GroupSums, Split, Survey
from hierbandits.types import Matrix
from hierbandits.workers.backends import LOCAL, in_order


class Trainer:
    """What each choice of groups teaches; the prior is the given one, or is fitted to them."""

    def __init__(
        self, survey: Survey, sums: GroupSums, model: RewardModel, table: Matrix | None
    ) -> None:
        self._survey, self._sums, self._model, self._table = survey, sums, model, table
        self._fitted: dict[tuple[int, ...], Stated] = {}

    def fit(self, choices: Iterable[Iterable[int]], backend: str = LOCAL) -> None:
        """Fit the priors of several choices of groups at once, on the workers of a back end."""
        wanted = dict.fromkeys(tuple(groups) for groups in choices)
        waiting = [groups for groups in wanted if groups not in self._fitted]
        if self._model.prior is not None or not waiting:
            return
        work = PriorFit.of(self._survey, self._table, self._model.family)
        priors = in_order(work, [self._learned(groups) for groups in waiting], backend=backend)
        self._fitted.update(zip(waiting, priors, strict=True))

    def fit_for(
        self, split: Split, trained: bool, learning: bool, pessimistic: bool, backend: str
    ) -> None:
        """Fit all priors that an evaluation asks for.

        To judge a group takes the others, to replay takes the first, and HierOPO takes all.
        """
        choices = [split.training(group) for group in split.judged if trained]
        choices += [[0]] * learning + [[*range(split.num_groups)]] * pessimistic
        self.fit(choices, backend)

    def training(self, group: int, groups: Iterable[int]) -> Training:
        """What these groups teach, to judge `group`."""
        return Training.of(
            self._survey, group, self._sums.of(groups), self.prior(groups), self._table
        )

    def prior(self, groups: Iterable[int]) -> Stated:
        """The prior that was given, or the one that fits these groups."""
        if self._model.prior is not None:
            return self._model.prior
        self.fit([groups])
        return self._fitted[tuple(groups)]

    def _learned(self, groups: tuple[int, ...]) -> TaskSums:
        sums = self._sums.of(groups)
        return sums if self._table is None else with_features(sums, self._table)
