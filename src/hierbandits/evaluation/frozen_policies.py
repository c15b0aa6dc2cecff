"""Frozen policies that do not look at the task's own belief."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierbandits.evaluation.training import Trained
from hierbandits.logs import Survey
from hierbandits.types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class OneArm:
    """Always the same arm."""

    survey: Survey
    arm: int

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """One for the arm, which must be eligible everywhere."""
        barred = np.flatnonzero(~eligible[:, self.arm])
        if barred.size:
            name, task = self.survey.arms[self.arm], self.survey.tasks[tasks[barred[0]]]
            raise ValueError(
                f"arm {name!r} must be eligible in every row to be always played, "
                f"got one of task {task!r} where it is not"
            )
        shares = np.zeros(eligible.shape)
        shares[:, self.arm] = 1.0
        return shares


@dataclass(frozen=True, slots=True, eq=False)
class BestArm:
    """The best single arm: one order of the arms for all tasks; the first eligible is played.

    The order is by the mean reward that a reward model expects if all tasks played the arm, in
    the proportions in which the tasks occur in the training rows.
    """

    values: Vector  # (K,)

    @classmethod
    def of(cls, training: Trained) -> "BestArm":
        """The arms as these rows rank them."""
        return cls(training.arm_values())

    @property
    def arm(self) -> int:
        """The arm that is played where all are eligible."""
        return int(self.values.argmax())

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """One for the first eligible arm of the order."""
        shares = np.zeros(eligible.shape)
        best = np.where(eligible, self.values, -np.inf).argmax(axis=1)
        shares[np.arange(best.size), best] = 1.0
        return shares


@dataclass(slots=True, eq=False)
class FunctionPolicy:
    """A caller's function of a task and its eligible arms, and of the context where there is one.

    It returns a probability for each of those arms: a mapping by name (absent ones are zero), or
    a sequence in their order.
    """

    survey: Survey
    name: str
    function: Callable[..., Any]
    _known: dict[tuple[int, bytes], Vector] = field(default_factory=dict, init=False)

    def __call__(self, tasks: Indices, eligible: Mask, /) -> Matrix:
        """What the function answers, checked and remembered."""
        shares = np.empty(eligible.shape)
        for i, task in enumerate(tasks.tolist()):
            key = (task, np.packbits(eligible[i]).tobytes())
            if key not in self._known:
                self._known[key] = self._ask(task, eligible[i])
            shares[i] = self._known[key]
        return shares

    def in_contexts(
        self, tasks: Indices, eligible: Mask, contexts: Sequence[Mapping[str, Any]]
    ) -> Matrix:
        """What the function answers for rows that have contexts, checked."""
        each = zip(tasks.tolist(), eligible, contexts, strict=True)
        return np.stack([self._ask(task, mask, context) for task, mask, context in each])

    def _ask(self, task: int, eligible: Mask, *context: Mapping[str, Any]) -> Vector:
        places = np.flatnonzero(eligible)
        arms = tuple(self.survey.arms[place] for place in places)
        named = self.survey.tasks[task]
        answer = self.function(named, arms, *context)
        where = f"policy {self.name!r} in task {named!r}"
        if isinstance(answer, Mapping):
            odd = [arm for arm in answer if arm not in arms and answer[arm] != 0]
            if odd:
                raise ValueError(f"{where} must play eligible arms alone, got {odd[0]!r}")
            answer = [answer.get(arm, 0.0) for arm in arms]
        try:
            given = np.asarray(answer, float)
        except (TypeError, ValueError):
            raise ValueError(f"{where} must give probabilities, got {answer!r:.80}") from None
        if given.shape != places.shape:
            raise ValueError(
                f"{where} must give one probability for each of {places.size} eligible arms, "
                f"got {answer!r:.80}"
            )
        if not (given >= 0).all() or abs(given.sum() - 1) > 1e-6:  # NaN is not >= 0
            raise ValueError(
                f"{where} must give probabilities that are not negative and sum to one, "
                f"got {given.tolist()!r:.80}, which sum to {given.sum():g}"
            )
        shares = np.zeros(eligible.size)
        shares[places] = given / given.sum()
        return shares
