"""A frozen policy on rows that have contexts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hierbandits.evaluation.context_training import ContextTraining
from hierbandits.evaluation.frozen_policies import FunctionPolicy
from hierbandits.evaluation.pairs import Pairs
from hierbandits.evaluation.targets import FrozenTarget
from hierbandits.evaluation.training import Training
from hierbandits.logs import Encoder, Survey
from hierbandits.policies.frozen_rules import Frozen
from hierbandits.types import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class ContextPolicy:
    """Asks a policy about each row, in the row's own context."""

    target: FrozenTarget
    survey: Survey
    encoder: Encoder
    training: ContextTraining | None  # None if nothing was trained

    def __call__(self, pairs: Pairs, /) -> Matrix:
        """The probability of every arm in every row, (E, K)."""
        assert pairs.cells is not None
        if self.target.is_trained:
            assert self.training is not None
            frozen = self.target.freeze(self.survey, self.training.at(pairs))
            return frozen(np.arange(pairs.tasks.size), pairs.eligible)
        frozen = self.target.freeze(self.survey, None)
        if isinstance(frozen, FunctionPolicy):
            contexts = [self.encoder._raw_values(cells) for cells in pairs.cells]
            return frozen.in_contexts(pairs.tasks, pairs.eligible, contexts)
        return frozen(pairs.tasks, pairs.eligible)


ByGroup: TypeAlias = dict[int, "Frozen | ContextPolicy"]
"""A policy as it stands after the training rows of each group that is judged."""


def frozen_by_group(
    targets: Iterable[FrozenTarget],
    survey: Survey,
    judged: Iterable[int],
    trainings: Mapping[int, Training],
) -> dict[str, ByGroup]:
    """The policies by name; with a context, each asks about every row."""
    encoder, frozen = survey.log.encoder, dict[str, ByGroup]()
    asked = {}
    if encoder is not None:
        asked = {group: ContextTraining(one, encoder) for group, one in trainings.items()}
    for target in targets:
        frozen[target.name] = {
            group: target.freeze(survey, trainings.get(group))
            if encoder is None
            else ContextPolicy(target, survey, encoder, asked.get(group))
            for group in judged
        }
    return frozen
