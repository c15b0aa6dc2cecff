"""Which widths a shared policy believes in, and when they are fitted again."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import psycopg

from hierbandits.beliefs.adaptive_belief import rewards_due_after
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.width_refit import WidthRefit, most_rewarded
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_look import FIRST_DUE, SharedLook, look_due_after
from hierbandits.service.shared_model import SharedModel
from hierbandits.service.shared_sums import SharedSums, joined

MOST_REFITTED, USUAL_DIM = 20_000, 16
"""Rewards of a policy up to which all are matched again when a look has found widths.

They are fewer, by the square, where there are more than USUAL_DIM arms or features that are not
independent.  So tasks are locked for a second at most, on a machine that is not busy.  Sites of
more rewards are what they were under the widths before, until their tasks learn.
"""


class SharedWidths:
    """Those that a model states, or those that the rewards of all tasks support.

    They are due at a number of rewards, and fitted by whoever folds then.
    """

    def __init__(self, policy: int, model: SharedModel) -> None:
        self._policy, self._model = policy, model

    def first(self) -> tuple[GaussianHierarchy, int | None]:
        """What is believed before any reward, and when widths are due; None if they are stated."""
        model = self._model
        if isinstance(model, UnknownWidths):
            return model.hierarchy(), 1
        if isinstance(model, UnknownFamilyWidths):
            return model.hierarchy(), FIRST_DUE
        if isinstance(model, GeneralizedHierarchy):
            return model.hierarchy, None  # of which sites are Gaussian rewards
        return model, None

    def fitted(
        self,
        db: psycopg.Connection[Any],
        rows: Iterable[tuple[Sequence[bytes], SharedSums]],
        rewards: int,
        before: GaussianHierarchy | None,
    ) -> tuple[GaussianHierarchy, int]:
        """What so many rewards support, and when widths are due again.

        `rows` are the numbers of all tasks by their keys, some at a time; `before` is what was
        fitted last.
        """
        if isinstance(self._model, UnknownFamilyWidths):
            look = SharedLook(db, self._policy, self._model)
            return look.hierarchy(rows, before), look_due_after(rewards)
        assert isinstance(self._model, UnknownWidths)  # others are never due
        refit = WidthRefit(self._model, _most_rewarded(rows, self._model), before)
        refit.advance()
        return refit.hierarchy(), int(rewards_due_after(np.array([rewards]))[0])

    def needs_refit(self, now: SharedGeneration, after: SharedGeneration) -> bool:
        """Whether the rewards of a family are to be matched again, since a look came between."""
        model = self._model
        work = 1.0 if model.is_diagonal else max(1.0, (model.dim / USUAL_DIM) ** 2)
        is_fitted = isinstance(model, UnknownFamilyWidths) and after.due != now.due
        return is_fitted and work * after.rewards <= MOST_REFITTED


def _most_rewarded(
    rows: Iterable[tuple[Sequence[bytes], SharedSums]], model: UnknownWidths
) -> TaskSums:
    """The sums of the tasks whose widths are looked at."""
    some = TaskSums.zeros(0, model.dim, armed=model.is_armed)
    for _, sums in rows:
        some = joined(some, sums.known())
        some = some.rows(most_rewarded(some.n, model))
    return some
