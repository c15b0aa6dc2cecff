"""Frames turned into batches of plain arrays, with the names met on the way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.logs.batch import Batch
from hierbandits.logs.cells import as_lists, as_names, refuse, refuse_missing
from hierbandits.logs.columns import Columns
from hierbandits.logs.encoder import Encoder
from hierbandits.logs.left_out import LeftOut
from hierbandits.logs.names import Names
from hierbandits.logs.numbering import Numbering
from hierbandits.logs.numbers import as_numbers, as_probabilities
from hierbandits.logs.reading import AS_IT_IS, Reading
from hierbandits.logs.times import TimeReader
from hierbandits.types import Indices, Mask, Matrix, Name

if TYPE_CHECKING:
    import polars as pl

SEPARATOR = "|"  # between the eligible arms of a CSV's cell


class BatchReader:
    """Turns frames into batches, keeping the names met on the way.

    Without an encoder, arms are read as they are and their context is not.
    """

    def __init__(
        self,
        columns: Columns,
        arms: Sequence[Name] | None,
        text: bool,
        reading: Reading = AS_IT_IS,
        encoder: Encoder | None = None,
    ) -> None:
        self._columns, self._text, self._encoder = columns, text, encoder
        self._decimal = reading.decimal if text else None  # None: numbers are numbers already
        self.names = Names(arms)
        merge = reading.merge_names
        self._tasks = Numbering("task", self.names.tasks, merge=merge)
        self._arms = Numbering(
            "arm", self.names.arms, fixed=arms is not None, text=self._text, merge=merge
        )
        self._populations = Numbering("population", self.names.populations, merge=merge)
        self._dim: int | None = None
        self._times = TimeReader(reading.time_format, reading.decimal)
        if columns.population is None:
            self.names.populations.append("all")

    def batch(self, frame: "pl.DataFrame", rows: Indices, start: int, left_out: LeftOut) -> Batch:
        """These rows of the log, checked; `start` others were read before them."""
        named = self._columns
        tasks = self._tasks.places(frame[named.task], rows)
        rewards = as_numbers("reward", frame[named.reward], rows, self._decimal)
        features: Matrix | Indices
        eligible: Mask | None = None
        played: Indices | None = None
        cells: Matrix | None = None
        if named.arm is None:
            features = self._features(frame, rows)
        else:
            arms, eligible = self._played(frame, named.arm, rows)
            features = arms
            if self._encoder is not None:
                played, cells = arms, self._encoder.cells(frame, rows, self._decimal)
                features = self._encoder._raw_features(cells, arms)
        decisions = times = propensities = None
        if named.decision is not None:
            as_names("decision", frame[named.decision], rows)
            decisions = frame[named.decision].to_numpy()
        if named.propensity is not None:
            propensities = as_probabilities(frame[named.propensity], rows, self._decimal)
        if named.time is not None:
            times = self._times.times(frame[named.time], rows)
        populations = self._population(frame, tasks, rows)
        return Batch(
            start,
            tasks,
            features,
            rewards,
            populations,
            decisions,
            propensities,
            eligible,
            times,
            self.names,
            rows,
            left_out,
            played,
            cells,
        )

    def _features(self, frame: "pl.DataFrame", rows: Indices) -> Matrix:
        named = self._columns.features
        if isinstance(named, str):
            return self._listed_features(frame[named], rows)
        assert named is not None  # as there is no column of arms
        matrix = np.empty((frame.height, len(named)))
        for i, name in enumerate(named):
            matrix[:, i] = as_numbers("features", frame[name], rows, self._decimal)
        return matrix

    def _listed_features(self, series: "pl.Series", rows: Indices) -> Matrix:
        lists = as_lists("features", series, rows)
        sizes = lists.list.len().to_numpy()
        if self._dim is None:
            self._dim = int(sizes[0])
        bad = np.flatnonzero((sizes != self._dim) | (sizes == 0))
        if bad.size:
            must = f"be lists of {self._dim or 'at least 1'} numbers"
            refuse("features", lists, rows, bad[0], must)
        flat = lists.explode()
        return as_numbers("features", flat, np.repeat(rows, self._dim)).reshape(-1, self._dim)

    def _played(
        self, frame: "pl.DataFrame", arm: str, rows: Indices
    ) -> tuple[Indices, Mask | None]:
        """The arms played, and a mask of the eligible arms.

        The lists are read before the arms: then the order of new names does not depend on how
        rows come in batches.
        """
        if self._columns.eligible is None:
            return self._arms.places(frame[arm], rows), None
        event, entry = self._lists(frame[self._columns.eligible], rows)
        played = self._arms.places(frame[arm], rows)
        mask = np.zeros((played.size, len(self.names.arms)), np.bool_)
        mask[event, entry] = True
        allowed = mask[np.arange(played.size), played]
        if not allowed.all():
            refuse("arm", frame[arm], rows, int(np.argmin(allowed)), "be among the eligible arms")
        return played, mask

    def _lists(self, series: "pl.Series", rows: Indices) -> tuple[Indices, Indices]:
        """The event and the arm of each entry of the eligible lists."""
        if self._text:
            refuse_missing("eligible", series, rows)
            cells, series = series, series.str.split(SEPARATOR)
            empty = series.list.contains("")
            if empty.any():
                must = f"be arms separated by {SEPARATOR!r}"
                refuse("eligible", cells, rows, empty.arg_max() or 0, must)
        lists = as_lists("eligible", series, rows)
        sizes = lists.list.len().to_numpy()
        if not sizes.all():
            refuse("eligible", lists, rows, int(np.argmin(sizes)), "hold at least one arm")
        event = np.repeat(np.arange(sizes.size), sizes)
        return event, self._arms.places(lists.explode(), rows[event])

    def _population(self, frame: "pl.DataFrame", tasks: Indices, rows: Indices) -> Indices:
        column, names = self._columns.population, self.names
        more = len(names.tasks) - names.population.size
        if column is None:
            names.population = np.append(names.population, np.zeros(more, np.intp))
            return np.zeros(tasks.size, np.intp)
        places = self._populations.places(frame[column], rows)
        met, first = np.unique(tasks, return_index=True)
        new = met >= names.population.size  # in order of appearance, as places are
        names.population = np.append(names.population, places[first[new]])
        moved = np.flatnonzero(names.population[tasks] != places)
        if moved.size:
            task = tasks[moved[0]]
            home = names.populations[names.population[task]]
            must = f"stay {home!r} for task {names.tasks[task]!r}"
            refuse("population", frame[column], rows, moved[0], must)
        return places
