"""The pass over a log that weighs its rows by what frozen policies would have done."""

from collections.abc import Callable

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.evaluation.estimators import REWARD, ROBUST, WEIGHT
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.pairs import Pairs
from hierbandits.logs import Rows, Split, Survey
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.frozen_rules import Frozen
from hierbandits.types import Matrix

OTHER = 4  # the reference's weight, w r and DR term begin here
APART, CORRECTION = 7, 8
"""After a row's own four values and the reference's three: |w - its w|, and w (r - q(a))."""


class Tally:
    """One frozen policy's sums."""

    def __init__(self, survey: Survey, groups: tuple[int, ...]) -> None:
        size = (survey.num_tasks, len(survey.arms))
        self.moments = Moments.zeros(survey.num_tasks, 4)
        self.paired = Moments.zeros(1, 9)  # of all tasks, beside the reference
        self.largest = np.zeros(survey.num_tasks)
        self.chosen = {group: np.zeros(size) for group in groups}  # probabilities summed up

    def add(
        self, group: int, rows: Rows, pairs: Pairs, shares: Matrix, model: Matrix | None
    ) -> Matrix:
        """Add the rows of a group; `model` holds the tasks' mean rewards, (tasks, K).

        Returns the rows' values and the correction of the model in each, (E, 5).
        """
        np.add.at(self.chosen[group], pairs.tasks, shares * pairs.counts[:, None])
        weight = np.zeros(rows.size)
        if rows.propensities is not None:
            weight = shares[pairs.place, rows.arms] / rows.propensities
        robust = correction = np.zeros(rows.size)
        if model is not None:
            expected = (shares * model[pairs.tasks]).sum(axis=1)[pairs.place]
            correction = weight * (rows.rewards - model[rows.tasks, rows.arms])
            robust = expected + correction
        values = np.stack([weight, weight * rows.rewards, robust, rows.rewards], axis=1)
        self.moments.add(rows.tasks, values)
        np.maximum.at(self.largest, rows.tasks, weight)
        return np.column_stack([values, correction])

    def compare(self, values: Matrix, reference: Matrix) -> None:
        """Add what `add` returned, beside what it returned for the reference."""
        apart = np.abs(values[:, WEIGHT] - reference[:, WEIGHT])
        paired = [values[:, : REWARD + 1], reference[:, : ROBUST + 1], apart, values[:, REWARD + 1]]
        self.paired.add(np.zeros(apart.size, np.intp), np.column_stack(paired))


def weigh(
    survey: Survey,
    split: Split,
    policies: dict[str, dict[int, Frozen]],
    models: dict[int, ArmPosteriors[Belief]],
    advance: Callable[[int], None],
    reference: str | None = None,
) -> dict[str, Tally]:
    """Read the log once; every policy and model of a group sees the rows of that group alone.

    Policies are compared with the one of the name `reference`, row by row.
    """
    tallies = {name: Tally(survey, split.judged) for name in policies}
    tables = {group: model.means for group, model in models.items()}
    for rows in survey.rows():
        groups = split.groups(rows.numbers, rows.times)
        for group in split.judged:
            part = rows.only(groups == group)
            if part.size == 0:
                continue
            pairs = Pairs.of(part, len(survey.arms))
            values = {}
            for name, frozen in policies.items():
                shares = frozen[group](pairs.tasks, pairs.eligible)
                values[name] = tallies[name].add(group, part, pairs, shares, tables.get(group))
            for name, tally in tallies.items():
                tally.compare(values[name], values[reference or name])
        advance(rows.size)
    return tallies
