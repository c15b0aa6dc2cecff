"""Which rows of a log are trained on, and which are judged: never the same ones."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hierbandits.checks import count
from hierbandits.keyed_random import Stream
from hierbandits.logs.survey import Survey
from hierbandits.types import Indices

Kind: TypeAlias = Literal["none", "held out", "folds", "time"]

TRAIN_SHARE = 0.5  # of the rows, if a log is split by time


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Split:
    """Rows in groups. A group is judged only by models trained on other groups.

    none      one group; nothing is trained, and every row is judged
    held out  group 0 is trained on, and group 1, a random share of the rows, is judged
    folds     every row is judged, by what was trained on all other folds; valid if the log's
              policy did not learn from its rows
    time      group 0, the earlier rows, is trained on, and group 1 is judged; always valid

    Which group a row is in depends on its number (or its time) and the seed alone, not on batches.
    """

    kind: Kind
    num_groups: int
    judged: tuple[int, ...]  # groups
    seed: int = 0
    share: float = 0.0  # of the rows that are held out
    cut: Any = None  # a time, or a row's number: the first that is judged

    @classmethod
    def none(cls) -> "Split":
        """All rows in one group."""
        return cls(kind="none", num_groups=1, judged=(0,))

    @classmethod
    def held_out(cls, share: float, seed: int) -> "Split":
        """A share of the rows is held out; 0 holds out nothing."""
        seed = count("seed", seed)
        is_number = isinstance(share, int | float) and not isinstance(share, bool)
        if not is_number or not 0 <= share < 1:
            raise ValueError(f"held_out must be a share of the rows in [0, 1), got {share!r}")
        return cls(kind="held out", num_groups=2, judged=(1,), seed=seed, share=share)

    @classmethod
    def for_evaluation(
        cls, survey: Survey, kind: Literal["folds", "time"] | None, *, folds: int, seed: int
    ) -> "Split":
        """Folds, or time; None chooses time if the log has a column of it."""
        if kind is None:
            kind = "folds" if survey.times is None else "time"
        if survey.num_rows < folds:
            raise ValueError(
                f"log must have at least {folds} rows for {folds} folds, got {survey.num_rows}"
            )
        if kind == "folds":
            return cls(kind="folds", num_groups=folds, judged=tuple(range(folds)), seed=seed)
        return cls(kind="time", num_groups=2, judged=(1,), seed=seed, cut=_cut(survey))

    @property
    def shown_cut(self) -> str:
        """The cut as people read it: a date without the midnight it begins at."""
        if isinstance(self.cut, np.datetime64):
            return str(np.datetime_as_string(self.cut, unit="auto"))
        return str(self.cut)

    def training(self, group: int) -> list[int]:
        """The groups that are trained on to judge this group."""
        return [other for other in range(self.num_groups) if other != group]

    def groups(self, numbers: Indices, times: NDArray[Any] | None = None) -> Indices:
        """The group of each row, given the rows' numbers in the log and their times, (E,)."""
        numbers = np.asarray(numbers)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise ValueError(f"numbers must be a row of whole numbers, got {numbers!r:.80}")
        if self.kind == "none":
            return np.zeros(numbers.size, np.intp)
        if self.kind == "time":
            return np.asarray((numbers if times is None else times) >= self.cut, np.intp)
        if self.kind == "held out":
            luck = Stream(self.seed, "held-out rows").of_rows(numbers)
            return np.asarray(luck < self.share, np.intp)
        luck = Stream(self.seed, "fold").of_rows(numbers)
        return (luck * self.num_groups).astype(np.intp)


def _cut(survey: Survey) -> Any:
    """The time before which about half of the rows lie; a row's number if there are no times."""
    if survey.times is None:
        return max(1, min(survey.num_rows - 1, round(TRAIN_SHARE * survey.num_rows)))
    times = survey.times
    if times[0] == times[-1]:
        raise ValueError(
            f"time must differ among rows for a split of this kind, got only {times[0]}"
        )
    cut = times[int(TRAIN_SHARE * times.size)]
    return cut if cut > times[0] else times[times > cut][0]
