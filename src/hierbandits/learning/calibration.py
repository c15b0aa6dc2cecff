"""Do predictions hold?  Rows that learning did not see, against their predictions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from hierbandits.algebra import normal_quantile
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.predictor import Predictor
from hierbandits.logs import Batch, GroupSums, Split, Survey
from hierbandits.types import Indices, Matrix, Vector

BINS = 20
CONFIDENCES = (0.5, 0.8, 0.9, 0.95)
CELL_ROWS = 10  # held-out rewards that make a mean worth checking
WITHIN = 0.15  # of what it states, coverage must surely be before we say that it holds
_REACH = np.array([normal_quantile(confidence) for confidence in CONFIDENCES])


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """How often intervals cover what they predict."""

    coverage: Vector  # of the intervals of CONFIDENCES
    error: Vector  # its standard error; at least that of independent cases, since few can all agree
    size: int  # cases

    @classmethod
    def of(cls, coverage: Vector, error: Vector, size: int) -> "Coverage":
        """With errors that are large enough."""
        stated = np.array(CONFIDENCES)
        return cls(coverage, np.maximum(error, np.sqrt(stated * (1 - stated) / size)), size)

    @property
    def wrong(self) -> list[float]:
        """The confidences whose coverage is wrong, by 3 standard errors and by 0.02 at least."""
        bad = (self._gap > 3 * self.error) & (self._gap > 0.02)
        return [confidence for confidence, is_bad in zip(CONFIDENCES, bad, strict=True) if is_bad]

    @property
    def holds(self) -> bool:
        """Whether coverage is within WITHIN of what is stated, and that for sure."""
        return bool((self._gap + 2 * self.error <= WITHIN).all()) and not self.wrong

    @property
    def _gap(self) -> Vector:
        gap: Vector = np.abs(self.coverage - np.array(CONFIDENCES))
        return gap


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cells:
    """Means of at least CELL_ROWS held-out rewards, against their predictive distribution.

    A cell is a task and arm, or a task if there are features.  Means of rewards are nearly
    Gaussian whatever the rewards are.  So these show whether means and widths are right even when
    single rewards cannot.
    """

    count: int
    histogram: Indices  # of the predictive distribution at the means, (BINS,)
    coverage: Vector  # of the intervals of CONFIDENCES
    coverage_error: Vector
    z_std: float  # the standard deviation of z-scores about 0: 1 if all is right

    @classmethod
    def of(
        cls, held: TaskSums, mean_features: Matrix, mean_reward: Vector, predictor: Predictor
    ) -> "Cells | None":
        """The cells of the held-out rows; None if none has enough of them.

        Features alone need the means of each task's rows: x, (tasks, d), and reward, (tasks,).
        """
        features: Matrix | Indices
        count: Vector
        mean: Vector
        if held.is_armed:
            task, features = np.nonzero(held.xx >= CELL_ROWS)
            count = held.xx[task, features]
            mean = held.xy[task, features] / count
        else:
            task = np.flatnonzero(held.n >= CELL_ROWS)
            count, features, mean = held.n[task], mean_features[task], mean_reward[task]
        if task.size == 0:
            return None
        expected, var = predictor.signal(task, features)
        z = (mean - expected) / np.sqrt(var + predictor.noise_of(features) / count)
        num_tasks = len(held.n)
        inside = np.zeros((num_tasks, len(CONFIDENCES)))
        for i, reach in enumerate(_REACH):
            inside[:, i] = np.bincount(task, np.abs(z) <= reach, num_tasks)
        cells = np.bincount(task, minlength=num_tasks).astype(float)
        coverage = Coverage.of(*clustered(inside, cells), task.size)
        return cls(
            count=int(task.size),
            histogram=histogram(z),
            coverage=coverage.coverage,
            coverage_error=coverage.error,
            z_std=float(np.sqrt((z**2).mean())),
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Calibration:
    """The held-out rows, against what the training rows predict of them.

    Standard errors treat each task's rows as one, since they share their luck.
    """

    rows: int  # held out
    training_rows: int
    histogram: Indices  # of the probability integral transform, (BINS,): flat if all is right
    coverage: Vector  # of the intervals of CONFIDENCES
    coverage_error: Vector
    log_score: Mapping[str, float]  # the mean log density of a row under each model
    advantage: Mapping[str, tuple[float, float]]  # the hierarchy's log score less another's; error
    rmse: Mapping[str, float]
    two_valued: bool  # whether rewards have two values: the transform cannot be flat then
    cells: Cells | None  # None if no cell has enough rows

    @classmethod
    def of(
        cls,
        survey: Survey,
        split: Split,
        sums: GroupSums,
        predictors: Mapping[str, Predictor],
        with_each: Callable[[Batch], object] = lambda batch: None,
    ) -> "Calibration":
        """Read the log again and judge the predictors by its held-out rows.

        `with_each` sees each batch as well.
        """
        tally = _GaussianTally(sums.of([1]), predictors)
        two_valued = survey.reward_scale.num_values == 2
        return cls.of_tally(tally, survey, split, sums, with_each, two_valued=two_valued)

    @classmethod
    def of_tally(
        cls,
        tally: "Tally",
        survey: Survey,
        split: Split,
        sums: GroupSums,
        with_each: Callable[[Batch], object],
        *,
        two_valued: bool,
    ) -> "Calibration":
        """Let a tally see the held-out rows."""
        for batch in survey.log.batches():
            rows = np.flatnonzero(split.groups(batch.numbers))
            tally.add(batch.tasks[rows], batch.features[rows], batch.rewards[rows])
            with_each(batch)
        num_rows = tally.count.sum()
        coverage = Coverage.of(*clustered(tally.inside, tally.count), int(num_rows))
        return cls(
            rows=int(num_rows),
            training_rows=int(sums.of([0]).n.sum()),
            histogram=tally.histogram,
            coverage=coverage.coverage,
            coverage_error=coverage.error,
            log_score={name: float(sum_.sum() / num_rows) for name, sum_ in tally.scores.items()},
            advantage={name: tally.advantage(name) for name in ("pooled", "independent")},
            rmse={name: float(np.sqrt(sum_ / num_rows)) for name, sum_ in tally.squares.items()},
            two_valued=two_valued,
            cells=tally.cells(),
        )

    @property
    def of_rows(self) -> Coverage:
        """The coverage of single rewards."""
        return Coverage.of(self.coverage, self.coverage_error, self.rows)

    @property
    def judged(self) -> dict[str, Coverage]:
        """What predictions are judged by: single rewards unless they have two values, and means."""
        parts = {} if self.two_valued else {"held-out rewards": self.of_rows}
        cells = self.cells
        if cells is not None:
            of_cells = Coverage.of(cells.coverage, cells.coverage_error, cells.count)
            parts["means of held-out rewards"] = of_cells
        return parts


class Tally(ABC):
    """Sums over held-out rows, most of them by task."""

    def __init__(self, count: Vector, names: Iterable[str]) -> None:
        self.count = count  # the held-out rows of each task
        self.histogram = np.zeros(BINS, np.int64)
        self.inside = np.zeros((count.size, len(CONFIDENCES)))  # rewards inside the intervals
        self.scores = {name: np.zeros(count.size) for name in names}
        self.squares = dict.fromkeys(self.scores, 0.0)  # of errors
        self._apart = dict.fromkeys(self.scores, 0.0)  # squares of our score less theirs
        self._ours: Vector = np.zeros(0)

    @abstractmethod
    def add(self, tasks: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """Add held-out rows."""

    @abstractmethod
    def cells(self) -> Cells | None:
        """What is seen of whole cells, if some have enough rows."""

    def add_scores(self, name: str, tasks: Indices, score: Vector, error: Vector) -> None:
        """Add the log scores and errors of a predictor; the hierarchy's come first."""
        if name == "hierarchical":
            self._ours = score
        self.scores[name] += np.bincount(tasks, score, self.count.size)
        self.squares[name] += float((error**2).sum())
        self._apart[name] += float(((self._ours - score) ** 2).sum())

    def advantage(self, name: str) -> tuple[float, float]:
        """By how much the hierarchy's log score of a row is better, and its error.

        The error of independent rows is the least that it can be: few tasks can all agree.
        """
        better, rows = self.scores["hierarchical"] - self.scores[name], self.count.sum()
        mean, error = clustered(better[:, None], self.count)
        least = np.sqrt(max(self._apart[name] / rows - mean[0] ** 2, 0.0) / rows)
        return float(mean[0]), float(max(error[0], least))


class _GaussianTally(Tally):
    """Rewards beside Gaussian predictions."""

    def __init__(self, held: TaskSums, predictors: Mapping[str, Predictor]) -> None:
        super().__init__(held.n, predictors)
        self._held, self._predictors = held, predictors
        self._features = np.zeros(held.xy.shape)
        self._rewards = np.zeros(held.n.size)

    def add(self, tasks: Indices, features: Matrix | Indices, rewards: Vector) -> None:
        """Add held-out rows."""
        num_tasks = self.count.size
        for name, predictor in self._predictors.items():
            mean, var = predictor.signal(tasks, features)
            var, error = var + predictor.noise_of(features), rewards - mean
            score = -0.5 * (np.log(2 * np.pi * var) + error**2 / var)
            self.add_scores(name, tasks, score, error)
            if name == "hierarchical":
                z = error / np.sqrt(var)
                self.histogram += histogram(z)
                for i, reach in enumerate(_REACH):
                    self.inside[:, i] += np.bincount(tasks, np.abs(z) <= reach, num_tasks)
        if features.ndim == 2:
            for j in range(features.shape[1]):
                self._features[:, j] += np.bincount(tasks, features[:, j], num_tasks)
            self._rewards += np.bincount(tasks, rewards, num_tasks)

    def cells(self) -> Cells | None:
        """The means of tasks, or of tasks and arms."""
        n = np.maximum(self._held.n, 1.0)
        return Cells.of(
            self._held, self._features / n[:, None], self._rewards / n,
            self._predictors["hierarchical"],
        )  # fmt: skip


def clustered(total: Matrix, count: Vector) -> tuple[Vector, Vector]:
    """Means per row, from sums by task, and standard errors.

    Rows of different tasks are independent; rows of one task need not be.
    """
    mean = total.sum(0) / count.sum()
    error = np.sqrt(((total - mean * count[:, None]) ** 2).sum(0)) / count.sum()
    return mean, error


def histogram(z: Vector) -> Indices:
    """How many of the z-scores have their normal distribution function in each bin."""
    places = np.minimum((ndtr(z) * BINS).astype(np.intp), BINS - 1)
    return np.bincount(places, minlength=BINS)
