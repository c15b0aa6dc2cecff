"""The pass over a log that weighs its rows by what frozen policies would have done."""

from collections.abc import Callable, Mapping

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.evaluation.context_policy import ContextPolicy
from hierbandits.evaluation.estimators import REWARD, ROBUST, WEIGHT
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.pairs import Pairs
from hierbandits.logs import Encoder, Rows, Split, Survey
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.frozen_rules import Frozen
from hierbandits.types import Matrix

OTHER = 4  # the reference's weight, w r and DR term begin here
APART, CORRECTION = 7, 8
"""After a row's own four values and the reference's three: |w - its w|, and w (r - q(a))."""


class Tally:
    """One frozen policy's sums."""

    def __init__(self, survey: Survey, groups: tuple[int, ...]) -> None:
        encoder = survey.log.encoder
        self._width = 1 if encoder is None else encoder.width  # features of an arm
        size = (survey.num_tasks, self._width * len(survey.arms))
        self.moments = Moments.zeros(survey.num_tasks, 4)
        self.paired = Moments.zeros(1, 9)  # of all tasks, beside the reference
        self.largest = np.zeros(survey.num_tasks)
        # Probabilities summed up, each times its arm's features where rows have contexts.
        self.chosen = {group: np.zeros(size) for group in groups}

    @property
    def choices(self) -> Matrix:
        """How often the policy chooses each arm of each task, (tasks, K)."""
        return sum(self.chosen.values(), np.zeros(()))[:, :: self._width]  # z begins with 1

    def add(
        self,
        group: int,
        rows: Rows,
        pairs: Pairs,
        shares: Matrix,
        means: Matrix | None,
        contexts: Matrix | None = None,
    ) -> Matrix:
        """Add the rows of a group; `means` holds the pairs' mean rewards by a model, (pairs, K).

        `contexts` are (pairs, width) if there are any.  Returns the rows' values and the correction
        of the model in each, (E, 5).
        """
        chosen = shares * pairs.counts[:, None]
        if contexts is not None:
            chosen = (chosen[:, :, None] * contexts[:, None, :]).reshape(len(chosen), -1)
        np.add.at(self.chosen[group], pairs.tasks, chosen)
        weight = np.zeros(rows.size)
        if rows.propensities is not None:
            weight = shares[pairs.place, rows.arms] / rows.propensities
        robust = correction = np.zeros(rows.size)
        if means is not None:
            expected = (shares * means).sum(axis=1)[pairs.place]
            correction = weight * (rows.rewards - means[pairs.place, rows.arms])
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
    policies: Mapping[str, Mapping[int, Frozen | ContextPolicy]],
    models: dict[int, ArmPosteriors[Belief]],
    advance: Callable[[int], None],
    reference: str | None = None,
) -> dict[str, Tally]:
    """Read the log once; every policy and model of a group sees the rows of that group alone.

    Policies are compared with the one of the name `reference`, row by row.  Where rows have
    contexts, models are of the coordinates of theta.
    """
    tallies = {name: Tally(survey, split.judged) for name in policies}
    tables = {group: model.means for group, model in models.items()}
    encoder = survey.log.encoder
    for rows in survey.rows():
        groups = split.groups(rows.numbers, rows.times)
        for group in split.judged:
            part = rows.only(groups == group)
            if part.size == 0:
                continue
            pairs = Pairs.of(part, len(survey.arms))
            means = tables[group][pairs.tasks] if group in tables else None
            contexts = None
            if encoder is not None and pairs.cells is not None:
                contexts = encoder._raw_contexts(pairs.cells)
                if means is not None:
                    means = np.einsum("ekq,eq->ek", _by_arm(means, encoder), contexts)
            values = {}
            for name, frozen in policies.items():
                shares = _shares(frozen[group], pairs)
                values[name] = tallies[name].add(group, part, pairs, shares, means, contexts)
            for name, tally in tallies.items():
                tally.compare(values[name], values[reference or name])
        advance(rows.size)
    return tallies


def _shares(frozen: Frozen | ContextPolicy, pairs: Pairs) -> Matrix:
    """The probability of every arm in every pair, (pairs, K)."""
    if isinstance(frozen, ContextPolicy):
        return frozen(pairs)
    return frozen(pairs.tasks, pairs.eligible)


def _by_arm(theta: Matrix, encoder: Encoder) -> Matrix:
    """Coefficients as (E, K, width)."""
    return theta.reshape(len(theta), len(encoder.arms), encoder.width)
