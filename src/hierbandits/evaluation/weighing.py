"""The pass over a log that weighs its rows by what frozen policies would have done."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hierbandits.algebra import normal_quantile
from hierbandits.evaluation.estimators import WEIGHT, effective_size
from hierbandits.evaluation.frozen_policies import Frozen
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.scores import Scores
from hierbandits.logs import Rows, Split, Survey
from hierbandits.types import Indices, Mask, Matrix


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How far the rows can be trusted to tell a frozen policy's value."""

    rows: int
    effective_rows: float
    largest_weight: float
    mean_weight: float  # one, but for chance, if the propensities are right
    mean_weight_error: float
    mean_weight_low: float
    mean_weight_high: float
    unsupported: float  # share of its choices that the log never made in the same task
    unsupported_tasks: int


class Tally:
    """One frozen policy's sums."""

    def __init__(self, survey: Survey, groups: tuple[int, ...]) -> None:
        size = (survey.num_tasks, len(survey.arms))
        self.moments = Moments.zeros(survey.num_tasks, 4)
        self.largest = np.zeros(survey.num_tasks)
        self.chosen = {group: np.zeros(size) for group in groups}  # probabilities summed up

    def add(
        self, group: int, rows: Rows, pairs: "Pairs", shares: Matrix, model: Matrix | None
    ) -> None:
        """Add the rows of a group; `model` holds the tasks' mean rewards, (tasks, K)."""
        np.add.at(self.chosen[group], pairs.tasks, shares * pairs.counts[:, None])
        weight = np.zeros(rows.size)
        if rows.propensities is not None:
            weight = shares[pairs.place, rows.arms] / rows.propensities
        robust = np.zeros(rows.size)
        if model is not None:
            expected = (shares * model[pairs.tasks]).sum(axis=1)[pairs.place]
            robust = expected + weight * (rows.rewards - model[rows.tasks, rows.arms])
        values = np.stack([weight, weight * rows.rewards, robust, rows.rewards], axis=1)
        self.moments.add(rows.tasks, values)
        np.maximum.at(self.largest, rows.tasks, weight)

    def diagnostics(self, plays: Matrix, confidence: float) -> Diagnostics:
        """`plays` counts how often the log plays each task's arms, (tasks, K)."""
        pooled = self.moments.pooled()
        mean, error = pooled.mean[0, WEIGHT], pooled.error(1.0, 0.0, 0.0, 0.0)[0]
        chosen = sum(self.chosen.values(), np.zeros(plays.shape))
        lost = np.where(plays == 0, chosen, 0.0).sum(axis=1)
        reach = normal_quantile(confidence) * error
        return Diagnostics(
            int(pooled.n[0]), float(effective_size(pooled)[0]), float(self.largest.max()),
            float(mean), float(error), float(mean - reach), float(mean + reach),
            float(lost.sum() / pooled.n[0]), int((lost > 0).sum()),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The distinct pairs of a task and its eligible arms among some rows."""

    tasks: Indices  # (pairs,)
    eligible: Mask  # (pairs, K)
    counts: Indices  # rows of each, (pairs,)
    place: Indices  # the pair of each row, (E,)

    @classmethod
    def of(cls, rows: Rows, num_arms: int) -> "Pairs":
        """The pairs of these rows."""
        if rows.eligible is None:
            tasks, place, counts = np.unique(rows.tasks, return_inverse=True, return_counts=True)
            return cls(tasks, np.ones((tasks.size, num_arms), np.bool_), counts, place)
        packed = np.packbits(rows.eligible, axis=1)
        number = rows.tasks.astype(np.int64)[:, None].view(np.uint8)
        keys = np.ascontiguousarray(np.concatenate([number, packed], axis=1))
        flat = keys.view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, place, counts = np.unique(
            flat, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(rows.tasks[first], rows.eligible[first], counts, place)


def weigh(
    survey: Survey,
    split: Split,
    policies: dict[str, dict[int, Frozen]],
    models: dict[int, Scores],
    advance: Callable[[int], None],
) -> dict[str, Tally]:
    """Read the log once; every policy and model of a group sees the rows of that group alone."""
    tallies = {name: Tally(survey, split.judged) for name in policies}
    tables = {group: model.means for group, model in models.items()}
    for rows in survey.rows():
        groups = split.groups(rows.numbers, rows.times)
        for group in split.judged:
            part = rows.only(groups == group)
            if part.size == 0:
                continue
            pairs = Pairs.of(part, len(survey.arms))
            for name, frozen in policies.items():
                shares = frozen[group](pairs.tasks, pairs.eligible)
                tallies[name].add(group, part, pairs, shares, tables.get(group))
        advance(rows.size)
    return tallies
