"""Do predictions hold?  Rows that learning did not see, against what it said of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import ndtr

from hierbandits.learning.held_out import Split
from hierbandits.learning.learning_survey import Survey
from hierbandits.learning.predictor import Predictor
from hierbandits.logs import Log
from hierbandits.types import Indices, Matrix, Vector

BINS = 20
LEVELS = (0.5, 0.8, 0.9, 0.95)
CELL_ROWS = 10  # held-out rewards that make a mean worth checking
_REACH = np.array([NormalDist().inv_cdf((1 + level) / 2) for level in LEVELS])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cells:
    """Means of at least ten held-out rewards, against their predictive distribution.

    A cell is a task and arm, or a task where there are features.  Means of rewards are nearly
    Gaussian whatever the rewards are, so these tell whether means and widths are right when single
    rewards cannot.
    """

    count: int
    histogram: Indices  # of the predictive distribution at the means, (BINS,)
    coverage: Vector  # of the intervals of LEVELS
    coverage_error: Vector
    z_std: float  # the standard deviation of z-scores about 0: 1 if all is right


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Calibration:
    """The training rows' predictions of the held-out ones.

    Standard errors are those of sums over tasks, since a task's rows share their luck.
    """

    rows: int  # held out
    training_rows: int
    histogram: Indices  # of the probability integral transform, (BINS,): flat if all is right
    coverage: Vector  # of the intervals of LEVELS
    coverage_error: Vector
    log_score: Mapping[str, float]  # the mean log density of a row under each model
    gain: Mapping[str, tuple[float, float]]  # the hierarchy's over pooled, independent; and error
    rmse: Mapping[str, float]
    two_valued: bool  # whether rewards have two values: the transform cannot be flat then
    cells: Cells | None  # None if no cell has enough rows

    @property
    def off(self) -> list[float]:
        """The levels whose coverage is off, by 3 standard errors and by 0.02 at least."""
        coverage, error, size = self.coverage, self.coverage_error, self.rows
        if self.two_valued:
            if self.cells is None:
                return []
            coverage, error = self.cells.coverage, self.cells.coverage_error
            size = self.cells.count
        levels = np.array(LEVELS)
        gap = np.abs(coverage - levels)
        error = np.maximum(error, np.sqrt(levels * (1 - levels) / size))  # few rows can all agree
        wrong = (gap > 3 * error) & (gap > 0.02)
        return [level for level, bad in zip(LEVELS, wrong, strict=True) if bad]


def check(
    log: Log,
    split: Split,
    survey: Survey,
    predictors: Mapping[str, Predictor],
    advance: Callable[[int], object],
) -> Calibration:
    """Read the log a second time and judge the predictors by its held-out rows."""
    num_tasks = len(survey.tasks)
    tally = _Tally(num_tasks, predictors)
    total = np.zeros((num_tasks, survey.training.xy.shape[1]))  # sums of x
    reward = np.zeros(num_tasks)
    for batch in log.batches():
        rows = np.flatnonzero(split.held(batch.first_row, batch.tasks.size))
        tasks, features, rewards = batch.tasks[rows], batch.features[rows], batch.rewards[rows]
        tally.add(tasks, features, rewards)
        if features.ndim == 2:
            for j in range(features.shape[1]):
                total[:, j] += np.bincount(tasks, features[:, j], num_tasks)
            reward += np.bincount(tasks, rewards, num_tasks)
        advance(batch.tasks.size)
    cells = _cells(survey, predictors["hierarchical"], total, reward)
    return tally.calibration(survey, cells)


class _Tally:
    """Counts over held-out rows, some of them by task."""

    def __init__(self, num_tasks: int, predictors: Mapping[str, Predictor]) -> None:
        self._predictors = predictors
        self._histogram = np.zeros(BINS, np.int64)
        self._inside = np.zeros((num_tasks, len(LEVELS)))
        self._scores = {name: np.zeros(num_tasks) for name in predictors}
        self._squares = dict.fromkeys(predictors, 0.0)

    def add(self, tasks: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        size = len(self._inside)
        for name, predictor in self._predictors.items():
            mean, var = predictor.signal(tasks, features)
            var, error = var + predictor.noise_var, rewards - mean
            score = -0.5 * (np.log(2 * np.pi * var) + error**2 / var)
            self._scores[name] += np.bincount(tasks, score, size)
            self._squares[name] += float((error**2).sum())
            if name == "hierarchical":
                z = error / np.sqrt(var)
                self._histogram += histogram(z)
                for i, reach in enumerate(_REACH):
                    self._inside[:, i] += np.bincount(tasks, np.abs(z) <= reach, size)

    def calibration(self, survey: Survey, cells: Cells | None) -> Calibration:
        count = survey.held.n
        rows = count.sum()
        share, share_error = clustered(self._inside, count)
        ours, gain = self._scores["hierarchical"], {}
        for name in self._scores.keys() - {"hierarchical"}:
            more, error = clustered((ours - self._scores[name])[:, None], count)
            gain[name] = float(more[0]), float(error[0])
        return Calibration(
            rows=int(rows),
            training_rows=int(survey.training.n.sum()),
            histogram=self._histogram,
            coverage=share,
            coverage_error=share_error,
            log_score={name: float(part.sum() / rows) for name, part in self._scores.items()},
            gain={name: gain[name] for name in sorted(gain, reverse=True)},
            rmse={name: float(np.sqrt(part / rows)) for name, part in self._squares.items()},
            two_valued=survey.two_valued,
            cells=cells,
        )


def clustered(total: Matrix, count: Vector) -> tuple[Vector, Vector]:
    """Means per row of sums by task, and standard errors that let a task's rows depend."""
    mean = total.sum(0) / count.sum()
    error = np.sqrt(((total - mean * count[:, None]) ** 2).sum(0)) / count.sum()
    return mean, error


def histogram(z: Vector) -> Indices:
    """How many of the z-scores have their normal distribution function in each bin."""
    places = np.minimum((ndtr(z) * BINS).astype(np.intp), BINS - 1)
    return np.bincount(places, minlength=BINS)


def _cells(survey: Survey, predictor: Predictor, total: Matrix, reward: Vector) -> Cells | None:
    features: Matrix | Indices
    if survey.is_armed:
        task, features = np.nonzero(survey.held.xx >= CELL_ROWS)
        count = survey.held.xx[task, features]
        mean = survey.held.xy[task, features] / count
    else:
        task = np.flatnonzero(survey.held.n >= CELL_ROWS)
        count = survey.held.n[task]
        features, mean = total[task] / count[:, None], reward[task] / count
    if task.size == 0:
        return None
    expected, var = predictor.signal(task, features)
    z = (mean - expected) / np.sqrt(var + predictor.noise_var / count)
    inside = np.zeros((len(survey.tasks), len(LEVELS)))
    for i, reach in enumerate(_REACH):
        inside[:, i] = np.bincount(task, np.abs(z) <= reach, len(survey.tasks))
    share, error = clustered(inside, np.bincount(task, minlength=len(survey.tasks)).astype(float))
    return Cells(
        count=int(task.size),
        histogram=histogram(z),
        coverage=share,
        coverage_error=error,
        z_std=float(np.sqrt((z**2).mean())),
    )
