"""Do predictions of a family hold?  Held-out rewards, ranked among rewards that it draws."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from hierbandits.keyed_random import seed_words
from hierbandits.learning.calibration import (
    CELL_ROWS,
    CONFIDENCES,
    Calibration,
    Cells,
    Tally,
    clustered,
    histogram,
)
from hierbandits.learning.family_predictor import FamilyPredictor
from hierbandits.logs import Batch, GroupSums, Split, Survey
from hierbandits.types import Indices, Matrix, Vector


def family_calibration(
    survey: Survey,
    split: Split,
    sums: GroupSums,
    predictors: Mapping[str, FamilyPredictor],
    with_each: Callable[[Batch], object],
    seed: int,
) -> Calibration:
    """Read the log again and judge the predictors by its held-out rows.

    A reward is ranked among draws of what was predicted, and so is the sum of a cell's rewards;
    that is exact for rewards of any kind, few positives included.  `with_each` sees each batch.
    """
    rng = np.random.default_rng(seed_words(seed, 6))
    tally = _FamilyTally(sums.of([1]).n, predictors, rng)
    return Calibration.of_tally(tally, survey, split, sums, with_each, two_valued=False)


class _FamilyTally(Tally):
    """Rewards ranked among draws of what was predicted."""

    def __init__(
        self, count: Vector, predictors: Mapping[str, FamilyPredictor], rng: Generator
    ) -> None:
        super().__init__(count, predictors)
        self._predictors, self._rng, self._num_tasks = predictors, rng, count.size
        self._rows: list[tuple[Indices, Matrix | Indices, Vector]] = []

    def add(self, tasks: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """Add held-out rows."""
        for name, predictor in self._predictors.items():
            score = predictor.log_score(tasks, features, rewards)
            self.add_scores(name, tasks, score, rewards - predictor.mean_reward(tasks, features))
        rank = self._predictors["hierarchical"].ranks(self._rng, tasks, features, rewards)
        self.histogram += histogram(ndtri(rank))
        self.inside += _inside(tasks, rank, self._num_tasks)
        self._rows.append((tasks, features, rewards))

    def cells(self) -> Cells | None:
        """Sums of a task and arm, or of a task where there are features or rewards do not add."""
        tasks, features, rewards = (
            np.concatenate([part[i] for part in self._rows]) for i in range(3)
        )
        ours = self._predictors["hierarchical"]
        if features.ndim == 1 and ours.family.ADDS_UP:
            keys = tasks * (int(features.max(initial=0)) + 1) + features
            _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
            counts, totals = np.bincount(cell), np.bincount(cell, rewards).astype(float)
            kept = np.flatnonzero(counts >= CELL_ROWS)
            task = tasks[first[kept]]
            arms, sizes = np.asarray(features[first[kept]], np.intp), counts[kept].astype(float)
            rank = ours.total_ranks(self._rng, task, arms, totals[kept], sizes)
        else:
            order = np.argsort(tasks, kind="stable")
            counts = np.bincount(tasks, minlength=self._num_tasks)
            task = np.flatnonzero(counts >= CELL_ROWS)
            stops = np.cumsum(counts)
            rows = [order[stops[s] - counts[s] : stops[s]] for s in task]
            rank = np.array(
                [
                    ours.sum_rank(self._rng, int(s), features[r], float(rewards[r].sum()))
                    for s, r in zip(task, rows, strict=True)
                ]
            )
        if task.size == 0:
            return None
        cells = np.bincount(task, minlength=self._num_tasks).astype(float)
        coverage, error = clustered(_inside(task, rank, self._num_tasks), cells)
        z = ndtri(rank)
        return Cells(
            count=int(task.size),
            histogram=histogram(z),
            coverage=coverage,
            coverage_error=error,
            z_std=float(np.sqrt((z**2).mean())),
        )


def _inside(tasks: Indices, rank: Vector, num_tasks: int) -> Matrix:
    """How many of each task's ranks lie in the middle of each of CONFIDENCES, (tasks, 4)."""
    away = np.abs(2 * rank - 1)
    parts = [np.bincount(tasks, away <= share, num_tasks) for share in CONFIDENCES]
    return np.column_stack(parts)
