"""The rewards of a log for a family: sums of each task's arms, or every row."""

from collections.abc import Iterable

import numpy as np

from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.logs.batch import Batch
from hierbandits.logs.group_sums import GroupSums
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Features, Indices, Vector

_MORE = 6  # numbers of a row besides its features


class FamilyRows:
    """What a log's rewards tell of linear predictors, gathered batch by batch, by groups of rows.

    Rewards of an arm that add up are in the sums that are gathered anyway.  Others are kept as
    rows; where they add up, rows of one task that have the same features are one.
    """

    def __init__(self, family: RewardFamily, column: str, limits: Limits = LIMITS) -> None:
        self.family, self._column, self._limits = family, column, limits
        self._parts: list[tuple[Indices, Features, Vector, Indices]] = []
        self._bases: dict[int, Vector] = {}  # by group, of each task: see `FamilySites`
        self._num_rows = 0
        self.is_summed = False  # whether all is in the sums of arms

    def add(self, batch: Batch, groups: Indices) -> None:
        """Add a batch of checked rows; `groups` is the group of each row, (E,)."""
        self._check(batch)
        self.is_summed = batch.is_armed and self.family.ADDS_UP
        if self.is_summed:
            self._add_bases(batch, groups)
            return
        self._num_rows += batch.num_rows
        most = self._limits.cells // (batch.features[:1].size + _MORE)
        if self._num_rows > most:
            raise ValueError(
                f"log must have at most {most:,} rows that are kept (limits.cells), since sums of "
                f"features do not tell what {self.family.NAME} rewards do, got more"
            )
        self._parts.append((batch.tasks, batch.features, batch.rewards, groups))

    def _add_bases(self, batch: Batch, groups: Indices) -> None:
        base = self.family.log_base(batch.rewards, np.ones(batch.num_rows))
        for group in np.unique(groups).tolist():
            kept = groups == group
            more = np.bincount(batch.tasks[kept], base[kept]).astype(float)
            known = self._bases.get(group, np.zeros(0))
            size = max(more.size, known.size)
            self._bases[group] = np.pad(more, (0, size - more.size)) + np.pad(
                known, (0, size - known.size)
            )

    def _check(self, batch: Batch) -> None:
        """Raise an error that names the first reward that the family cannot have, and its row."""
        rewards, ones = batch.rewards, np.ones(batch.num_rows)
        try:
            self.family.check("reward", rewards, ones)
        except ValueError:
            good, bad = 0, rewards.size  # the first so many are, or are not, all good
            while bad - good > 1:
                middle = (good + bad) // 2
                good, bad = (middle, bad) if self._is_good(rewards[:middle]) else (good, middle)
            where = f"in column {self._column!r} at row {batch.rows[good]}"
            try:
                self.family.check("reward", rewards[good:bad], ones[:1])
            except ValueError as error:
                raise ValueError(f"{error} {where}") from None

    def _is_good(self, rewards: Vector) -> bool:
        try:
            self.family.check("reward", rewards, np.ones(rewards.size))
        except ValueError:
            return False
        return True

    def of(self, groups: Iterable[int], gathered: GroupSums) -> FamilySites:
        """The rewards of these groups together; `gathered` has the sums of all rows."""
        groups = list(groups)
        sums = gathered.of(groups)
        if self.is_summed:
            bases = np.zeros(len(sums.n))
            for place in groups:
                known = self._bases.get(place, bases[:0])
                bases[: known.size] += known
            return FamilySites.of_arms(self.family, sums, bases)
        tasks, features, rewards, group = (
            np.concatenate([part[i] for part in self._parts]) for i in range(4)
        )
        kept = np.flatnonzero(np.isin(group, groups))
        num_tasks, dim = sums.xy.shape
        return merged(
            self.family, tasks[kept], features[kept], rewards[kept], num_tasks=num_tasks, dim=dim
        )


def merged(
    family: RewardFamily,
    tasks: Indices,
    features: Features,
    rewards: Vector,
    *,
    num_tasks: int,
    dim: int,
) -> FamilySites:
    """Rewards of exposure 1; those of one task and the same features are one, if they add up."""
    exposure = np.ones(tasks.size)
    bases = np.bincount(tasks, family.log_base(rewards, exposure), num_tasks).astype(float)
    if family.ADDS_UP and tasks.size:
        keys = np.column_stack([tasks, features])
        rows, first, row_of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        if len(rows) < tasks.size:
            row_of = row_of.ravel()
            rewards = np.bincount(row_of, rewards).astype(float)
            exposure = np.bincount(row_of).astype(float)
            tasks, features = tasks[first], features[first]
    return FamilySites(
        family, tasks, features, rewards, exposure, num_tasks=num_tasks, dim=dim, bases=bases
    )
