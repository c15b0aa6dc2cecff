"""Which rows train a model, and which are evaluated with it: never the same ones."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from hierbandits.keyed_random import Stream
from hierbandits.logs.survey import Rows, Survey
from hierbandits.types import Indices

Kind: TypeAlias = Literal["folds", "time", "none"]

TRAIN_SHARE = 0.5  # of the rows of a log that is split by time


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows in groups; an evaluated group's model is trained on the rows of other groups alone.

    folds: every row is evaluated, with a model trained on the rows of all other folds; a row's
    fold is a hash of its number.  Right if the arms were not chosen by what was learned from
    earlier rows.  time: the later rows are evaluated, with a model trained on the earlier ones;
    right then too.  none: nothing is trained, every row is evaluated.
    """

    kind: Kind
    num_groups: int
    evaluated: tuple[int, ...]
    seed: int
    cut: Any = None  # a time, or a row number: rows before it are group 0

    @classmethod
    def of(cls, survey: Survey, kind: Kind | None, *, folds: int, seed: int) -> "Split":
        """By time if the log has a column of it, else by folds, unless told otherwise."""
        if kind is None:
            kind = "folds" if survey.times is None else "time"
        if kind == "none":
            return cls("none", 1, (0,), seed)
        if survey.num_rows < folds:
            raise ValueError(
                f"log must have at least {folds} rows to be split, got {survey.num_rows}"
            )
        if kind == "folds":
            return cls("folds", folds, tuple(range(folds)), seed)
        return cls("time", 2, (1,), seed, _cut(survey, TRAIN_SHARE))

    def training(self, group: int) -> list[int]:
        """The groups that train the model of an evaluated group."""
        return [other for other in range(self.num_groups) if other != group]

    def groups(self, rows: Rows) -> Indices:
        """The group of each row."""
        if self.kind == "none":
            return np.zeros(rows.number.size, np.intp)
        if self.kind == "time":
            when = rows.number if rows.times is None else rows.times
            return np.asarray(when >= self.cut, np.intp)
        luck = Stream(self.seed, "fold").of_rows(rows.number)
        return (luck * self.num_groups).astype(np.intp)

    @property
    def reason(self) -> str:
        """What is done and why, for people."""
        if self.kind == "none":
            return "Nothing had to be trained, so every row is evaluated."
        if self.kind == "time":
            return (
                "Models and trained policies learned from the earlier rows and are evaluated on "
                f"the later ones (from {self.cut} on), so that no row is evaluated with a model "
                "that saw it, even if the log's own policy was learning."
            )
        return (
            f"Models and trained policies were cross-fitted in {self.num_groups} folds: every row "
            "is evaluated with a model trained on the other folds alone.  If the log's own policy "
            "was learning as it went, split by time instead."
        )


def _cut(survey: Survey, share: float) -> Any:
    """The time before which about this share of the rows lies; the row number without times."""
    if survey.times is None:
        return max(1, min(survey.num_rows - 1, round(share * survey.num_rows)))
    times = survey.times
    if times[0] == times[-1]:
        raise ValueError(f"time must differ among rows for a split by time, got only {times[0]}")
    cut = times[int(share * times.size)]
    return cut if cut > times[0] else times[times > cut][0]
