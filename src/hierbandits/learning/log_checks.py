"""What a log can show against the model: drift, groups of tasks, uneven noise, heavy tails."""

from typing import Any

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.keyed_random import seed_words
from hierbandits.learning import drift_check, peaks_check
from hierbandits.learning.check import LEAST_ODDS, Check
from hierbandits.learning.drift_check import check_drift
from hierbandits.learning.noise_check import (
    LEAST_FREEDOM,
    TAILS_ASKS,
    check_noise,
    check_tails,
    excess_kurtosis,
    noise_asks,
)
from hierbandits.learning.noise_shape import NoiseShape
from hierbandits.learning.own_fits import OwnFits
from hierbandits.learning.peaks_check import check_peaks
from hierbandits.learning.sentence import Claim, in_odds
from hierbandits.learning.shape_tally import ShapeTally
from hierbandits.learning.task_similarity import LEAST_PAIRS
from hierbandits.logs import LIMITS, Batch, GroupSums, Limits, Survey

MOST_LEVERAGE = 0.99  # of a row whose residual says something


class LogChecks:
    """Gathers the residuals of a log's rows, each about its own task's fit, then checks them."""

    def __init__(
        self,
        survey: Survey,
        sums: TaskSums,
        limits: Limits = LIMITS,
        *,
        noise_follows: bool = False,
    ) -> None:
        self._noise_follows = noise_follows  # from the mean, as the family of rewards says
        self._survey, self._sums, self._fits = survey, sums, OwnFits.of(sums)
        times = survey.times
        self._cut: Any = None
        if times is not None and times[0] != times[-1]:
            middle = times[times.size // 2]
            self._cut = middle if middle > times[0] else times[times > middle][0]
        self._halves = None if self._cut is None else GroupSums(2, limits=limits)
        groups = len(survey.arms) if survey.has_arms else 1
        self._rows, self._square, self._fourth, self._freedom = np.zeros((4, groups))
        self._raw = np.zeros((survey.num_tasks, groups))  # squares of residuals
        self._shape = ShapeTally(groups, armed=sums.is_armed)
        size = float(np.sqrt(self._fits.square.sum() / max(float(sums.n.sum()), 1.0)))
        self._size = size or 1.0  # of residuals, whose eighth powers overflow in some units

    def add(self, batch: Batch) -> None:
        """Add some rows."""
        if self._halves is not None:
            assert batch.times is not None
            self._halves.add(batch, np.asarray(batch.times >= self._cut, np.intp))
        residual, leverage = self._fits.residuals(batch.tasks, batch.features, batch.rewards)
        group = np.zeros(batch.num_rows, np.intp) if batch.arms is None else batch.arms
        size = self._square.size
        np.add.at(self._raw.ravel(), batch.tasks * size + group, residual**2)
        self._freedom += np.bincount(group, 1 - leverage, size)
        self._shape.add(group, residual / self._size, leverage, self._sums.n[batch.tasks])
        kept = leverage < MOST_LEVERAGE
        squares = residual[kept] ** 2 / (1 - leverage[kept])
        self._rows += np.bincount(group[kept], minlength=size)
        self._square += np.bincount(group[kept], squares, size)
        self._fourth += np.bincount(group[kept], squares**2, size)

    def results(self, choice: StructureChoice | None, seed: int) -> tuple[Check, ...]:
        """All checks; one that cannot be made says why."""
        tails = excess_kurtosis(self._rows, self._square, self._fourth, self._freedom)
        return (
            self._drift(tails[0]),
            self._task_groups(seed),
            *self._noise(seed, *tails, choice is not None and choice.has_noise_by_arm),
            self._correlations(choice),
        )

    def noise_shape(self) -> NoiseShape:
        """How far from Gaussian the mean noise of every task's coordinates is.

        Arms have their own, (tasks, d); features that of all rows together, (tasks, 1), and as
        many rows as a task has for one of them.
        """
        xx = self._sums.xx
        if xx.ndim == 2 and self._survey.has_arms:
            return NoiseShape.of_means(*self._shape.of_groups(), xx)
        skewness, excess = self._shape.of_all()
        rows = self._sums.n[:, None] / xx.shape[1]
        return NoiseShape.of_means(np.array([abs(skewness)]), np.array([excess]), rows)

    def _drift(self, tails: float) -> Check:
        if self._survey.times is None:
            words = "Not checked: no column of times was named."
        elif self._halves is None:
            words = "Not checked: all rows have one time."
        else:
            early, late = self._halves.of([0]), self._halves.of([1])
            return check_drift(early, late, self._survey.coordinates, tails)
        return Check(asks=drift_check.ASKS, words=words)

    def _task_groups(self, seed: int) -> Check:
        if self._noise_follows:
            words = "Not checked: a task's own estimate of such rewards is not normal."
            return Check(asks=peaks_check.ASKS, words=words)
        free = float(self._freedom.sum())
        whole = float(self._raw.sum()) / max(free, 1.0)
        if free < LEAST_FREEDOM or whole <= 0:
            words = "Not checked: too few rewards repeat within a task to know the noise."
            return Check(asks=peaks_check.ASKS, words=words)
        each = self._raw.sum(0) / np.maximum(self._freedom, 1.0)
        noise_var = np.where((self._freedom >= LEAST_FREEDOM) & (each > 0), each, whole)
        coordinates = self._survey.coordinates
        # Features have one; with a context, those of an arm have the arm's.
        noise_var = np.repeat(noise_var, len(coordinates) // noise_var.size)
        return check_peaks(self._sums, self._survey.population, noise_var, coordinates, seed)

    def _noise(
        self, seed: int, excess: float, freedom: float, is_modelled: bool
    ) -> tuple[Check, ...]:
        survey, rng = self._survey, np.random.default_rng(seed_words(seed, 5))
        asked = (noise_asks("arm"), noise_asks("task"), TAILS_ASKS)
        if self._noise_follows or survey.reward_scale.num_values == 2:
            words = "Not checked: rewards have two values, and their noise follows from their mean."
            if self._noise_follows:
                words = "Not checked: the noise of such rewards follows from their mean."
            return tuple(Check(asks=asks, words=words) for asks in asked)
        by_arm = Check(asks=asked[0], words="Not checked: the log has features in place of arms.")
        if survey.has_arms:
            by_arm = check_noise(
                rng, "arm", survey.arms, self._raw.sum(0), self._freedom, excess, is_modelled
            )
        # A task that plays noisy arms is not noisy for that: arms are taken in their own units.
        var = self._raw.sum(0) / np.maximum(self._freedom, 1e-9)
        whole = self._raw.sum() / max(float(self._freedom.sum()), 1e-9)
        square = (self._raw * np.where(var > 0, whole / np.where(var > 0, var, 1.0), 0.0)).sum(1)
        freedom_of_tasks = self._sums.n - self._fits.rank
        tasks = check_noise(rng, "task", survey.tasks, square, freedom_of_tasks, excess)
        return by_arm, tasks, check_tails(excess, freedom)

    def _correlations(self, choice: StructureChoice | None) -> Check:
        what, xx = "arms" if self._survey.is_armed else "features", self._sums.xx
        seen = xx if xx.ndim == 2 else np.diagonal(xx, axis1=1, axis2=2)
        if ((seen > 0).sum(1) > 1).sum() < LEAST_PAIRS:
            words = f"Not checked: fewer than {LEAST_PAIRS} tasks have data of two {what}."
            return Check(asks=correlations_asks(what), words=words)
        return check_correlations(choice, what)


def correlations_asks(what: str) -> str:
    """The question of `check_correlations`."""
    return f"Are the {what} of a task correlated?"


def check_correlations(choice: StructureChoice | None, what: str) -> Check:
    """Whether structures with correlations have more evidence than those without."""
    asks = correlations_asks(what)
    odds = None if choice is None else choice.log_odds_of_correlations
    if odds is None:
        return Check(asks=asks, words="Not checked: structures were not compared.")
    side = "for" if odds >= 0 else "against"
    words = f"Odds are {in_odds(abs(odds))} {side} correlations."
    claim = Claim.CORRELATED if odds >= np.log(LEAST_ODDS) else None
    if claim is not None:
        words = f"The {what} of a task are correlated: odds are {in_odds(odds)}. The prior says so."
    return Check(asks=asks, words=words, claim=claim, log_odds=odds)
