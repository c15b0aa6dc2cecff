"""What a start promises: its regret, and that of others, in worlds that the log allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.learning.family_trial import FamilyTrial
from hierbandits.learning.start_trial import NEW, OWN, START, StartTrial
from hierbandits.policies.recipes import USUAL
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.types import Matrix, Vector
from hierbandits.workers.backends import LOCAL, in_order

if TYPE_CHECKING:
    import polars as pl

CONFIDENCE = 0.9
OTHERS = "others"
"""New tasks that act in the same worlds, to tell what is not known from luck."""


@dataclass(frozen=True, slots=True, eq=False)
class Promise:
    """The regret of tasks up to each round, in worlds that the log allows."""

    tasks: str  # NEW or OWN
    policy: str
    regret: Matrix = field(repr=False)  # (rounds, runs, tasks)
    others: Matrix | None = field(default=None, repr=False)
    """At the horizon, of more new tasks in the same worlds, (runs, more tasks)."""

    @property
    def mean(self) -> float:
        """Of the regret of a task at the horizon, over all tasks that acted, `others` too."""
        return float(self._last.mean())

    @property
    def beside(self) -> float:
        """The same over the tasks in which all play, where `band` ends: to compare with others."""
        return float(self.band()[0][-1])

    @property
    def num_tasks(self) -> int:
        """The tasks of a world that `mean` is over."""
        return int(self._last.shape[1])

    @property
    def interval(self) -> tuple[float, float]:
        """Where the regret at the horizon, on average over so many tasks, is: with luck."""
        low, high = self.band()[1:]
        return float(low[-1]), float(high[-1])

    @property
    def expected(self) -> tuple[float, float]:
        """Where it is on average over very many tasks like these: what the log leaves open.

        Worlds differ by what is not known of them and by the luck of their tasks.  How much luck a
        world has is seen from how its tasks differ: a world without any stays where it is, and one
        with much of it is drawn towards the mean.  The more tasks have acted in each world, the
        less luck is left.  How far worlds are apart is itself known from few of them, so what is
        not luck gets one standard error more.  There are no more tasks like the log's own: of these
        it is `interval`.
        """
        if self.tasks == OWN:
            return self.interval
        last = self._last
        runs, tasks = last.shape
        world = last.mean(axis=1)
        total = world.var(ddof=1) if runs > 1 else 0.0
        luck = last.var(axis=1, ddof=1) / tasks if tasks > 1 else np.zeros(runs)
        unsure = 1 / runs + np.sqrt(2 / max(runs - 1, 1))  # of the mean and of the variance
        open_part = min(max(total - luck.mean(), 0.0) + unsure * total, total)
        both = open_part + luck
        share = np.sqrt(np.divide(open_part, both, out=np.zeros(runs), where=both > 0))
        low, high = _ends(world.mean() + share * (world - world.mean()), 0)
        return float(low), float(high)

    def band(self) -> tuple[Vector, Vector, Vector]:
        """The mean and the ends of the interval at every round, (rounds,) each; see `beside`."""
        world = self.regret.mean(axis=2)
        low, high = _ends(world, 1)
        return world.mean(axis=1), low, high

    @property
    def _last(self) -> Matrix:
        """At the horizon, of all tasks that acted, (runs, tasks)."""
        last: Matrix = self.regret[-1]
        return last if self.others is None else np.concatenate([last, self.others], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        low, high = self.interval
        expected_low, expected_high = self.expected
        return {
            "tasks": self.tasks,
            "policy": self.policy,
            "mean": self.mean,
            "mean_beside_others": self.beside,
            "low": low,
            "high": high,
            "expected_low": expected_low,
            "expected_high": expected_high,
        }


def _ends(regret: Matrix, axis: int) -> tuple[Vector, Vector]:
    """The ends of the interval that holds the real world with probability CONFIDENCE."""
    tail = (1 - CONFIDENCE) / 2
    # Of n worlds and the real one, each is as likely as any to have the least regret.
    low, high = np.quantile(regret, [tail, 1 - tail], axis=axis, method="weibull")
    return low, high


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Promises:
    """What is promised of a start and of others, in the same worlds; see `StartTrial`.

    An interval holds what is not known of the world, its widths too, as well as the luck of so
    many tasks; that of what is expected holds no luck.
    """

    horizon: int
    runs: int
    num_tasks: Mapping[str, int]  # that act, new ones and the log's own
    policy: str  # the usual one of a start
    offered: str | None = None  # what decisions offered, in words; None if all arms
    promises: tuple[Promise, ...]

    def of(self, tasks: str, policy: str = START) -> Promise:
        """One of the promises."""
        return next(p for p in self.promises if (p.tasks, p.policy) == (tasks, policy))

    @property
    def rounds(self) -> str:
        """The horizon in words."""
        return "1 round" if self.horizon == 1 else f"{self.horizon:,} rounds"

    @property
    def policies(self) -> tuple[str, ...]:
        """All who play."""
        return tuple(dict.fromkeys(promise.policy for promise in self.promises))

    def saving(self, tasks: str, over: str, by: str = START) -> tuple[float, float]:
        """How much less regret the start has, in percent of the other's, and its standard error.

        `by` names another policy in the place of the start.
        """
        ours, theirs = (self.of(tasks, name).regret[-1].mean(axis=1) for name in (by, over))
        whole = theirs.mean()
        if whole == 0:
            return 0.0, 0.0
        ratio = float(ours.mean() / whole)
        error = np.std(ours - ratio * theirs, ddof=1) / np.sqrt(self.runs) / whole
        return 100 * (1 - ratio), 100 * float(error)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "horizon": self.horizon,
            "runs": self.runs,
            "tasks": dict(self.num_tasks),
            "policy": self.policy,
            "offered": self.offered,
            "confidence": CONFIDENCE,
            "regret_per_task": [promise.to_dict() for promise in self.promises],
        }

    def frame(self) -> "pl.DataFrame":
        """A row for each round of each promise."""
        import polars as pl

        parts = []
        for promise in self.promises:
            mean, low, high = promise.band()
            names = {"tasks": promise.tasks, "policy": promise.policy}
            columns = {"round": np.arange(1, mean.size + 1), "mean": mean, "low": low, "high": high}
            parts.append(
                pl.DataFrame(columns).with_columns(**{k: pl.lit(v) for k, v in names.items()})
            )
        return pl.concat(parts)

    @classmethod
    def of_trial(
        cls, trial: StartTrial | FamilyTrial, progress: Progress = None, backend: str = LOCAL
    ) -> "Promises":
        """Simulate all who play, on the workers of the `backend`."""
        plays = [(tasks, policy) for tasks in trial.num_tasks for policy in trial.players]
        plays.append((OTHERS, START))
        with progress_bar("Simulating", len(plays), progress) as steps:
            regrets = in_order(
                partial(_regret, trial), plays, backend=backend, with_each=steps.advance
            )
        found = dict(zip(plays, regrets, strict=True))
        others = found.pop((OTHERS, START))
        made = [
            Promise(*play, regret, others if play == (NEW, START) else None)
            for play, regret in found.items()
        ]
        return cls(
            horizon=trial.horizon,
            runs=trial.runs,
            num_tasks=trial.num_tasks,
            policy=USUAL,
            offered=None if trial.offers is None else trial.offers.words(),
            promises=tuple(made),
        )


def _regret(trial: StartTrial | FamilyTrial, play: tuple[str, str]) -> Matrix:
    """The regret of these tasks under this policy."""
    return trial.others_regret() if play[0] == OTHERS else trial.regret(*play)
