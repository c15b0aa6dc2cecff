"""HierOPO: the best policy that a log alone can vouch for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.evaluation.arm_features import feature_table
from hierbandits.evaluation.armed_log import armed_log
from hierbandits.evaluation.training import Training, checked_prior
from hierbandits.logs import LIMITS, GroupSums, Limits, Log, Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.ucb_rule import ucb_width
from hierbandits.reporting.rounding import to_its_error
from hierbandits.reporting.text_table import text_table
from hierbandits.types import Indices, Matrix, Name

if TYPE_CHECKING:
    import polars as pl

MOST_ROWS = 30
"""Tasks that are printed; `frame` has all."""


@dataclass(frozen=True, slots=True, eq=False)
class PessimisticPolicy:
    """In every task the arm of highest lower bound, mean - alpha std.

    A frozen policy: `policy(task, arms)` gives the probabilities of these arms, as `evaluate`
    asks for them.  Do not evaluate it on the rows that it was learned from, which flatter it:
    `evaluate(log, "HierOPO")` learns it from other rows than it is judged by.
    """

    log: Log
    prior: GaussianHierarchy
    alpha: float
    tasks: tuple[Name, ...]
    arms: tuple[Name, ...]
    mean: Matrix  # posterior mean rewards, (tasks, K)
    lower: Matrix  # their lower bounds, (tasks, K)
    plays: Matrix  # how often the log played each arm, (tasks, K)

    @classmethod
    def of(cls, training: Training, alpha: float, plays: Matrix) -> "PessimisticPolicy":
        """The policy that is learned from these rows."""
        survey, model = training.survey, training.model()
        return cls(
            survey.log, training.prior, alpha, survey.tasks, survey.arms,
            model.means, model.prediction.bound(-alpha)[model.row], plays,
        )  # fmt: skip

    @property
    def choices(self) -> Indices:
        """The arm's number in each task if all are eligible, (tasks,); of equal ones, the first."""
        best: Indices = self.lower.argmax(axis=1)
        return best

    def arm(self, task: Name, arms: Sequence[Name] | None = None) -> Name:
        """The arm to play in a task of the log, among these if not all are eligible."""
        if task not in self.tasks:
            raise ValueError(f"task must be one of the log's {len(self.tasks)}, got {task!r}")
        places = range(len(self.arms)) if arms is None else [self._place(arm) for arm in arms]
        lower = self.lower[self.tasks.index(task)]
        return self.arms[max(places, key=lambda place: float(lower[place]))]

    def __call__(self, task: Name, arms: tuple[Name, ...]) -> dict[Name, float]:
        """All probability on one arm."""
        return {self.arm(task, arms): 1.0}

    def _place(self, arm: Name) -> int:
        if arm not in self.arms:
            raise ValueError(f"arms must be of the log ({self.arms!r:.80}), got {arm!r}")
        return self.arms.index(arm)

    def frame(self) -> "pl.DataFrame":
        """Each task's arm, with its mean, its lower bound and how often it was played."""
        import polars as pl

        each, best = np.arange(len(self.tasks)), self.choices
        return pl.DataFrame(
            {
                "task": list(self.tasks),
                "arm": [self.arms[arm] for arm in best],
                "mean": self.mean[each, best],
                "lower": self.lower[each, best],
                "plays": self.plays[each, best].astype(int),
                "rows": self.plays.sum(axis=1).astype(int),
            }
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The same as text: the columns' names, and the rows."""
        rows = [
            [
                str(task),
                str(arm),
                to_its_error(mean, mean - lower, 4),
                to_its_error(lower, mean - lower, 4),
                str(plays),
                str(rows),
            ]
            for task, arm, mean, lower, plays, rows in self.frame().iter_rows()
        ]
        return ["task", "arm", "mean", "lower bound", "plays", "rows"], rows

    def __repr__(self) -> str:
        return f"<PessimisticPolicy of {len(self.tasks):,} tasks, {len(self.arms)} arms>"

    def __str__(self) -> str:
        columns, rows = self.cells()
        more = len(rows) - MOST_ROWS
        return text_table(columns, rows[:MOST_ROWS]) + (
            f"\n... and {more:,} more" if more > 0 else ""
        )


def hieropo(
    source: Any,
    *,
    task: str | None = None,
    reward: str | None = None,
    arm: str | None = None,
    population: str | None = None,
    arms: Sequence[Name] | None = None,
    prior: GaussianHierarchy | None = None,
    arm_features: Mapping[Name, Any] | None = None,
    delta: float = 0.05,
    alpha: float | None = None,
    limits: Limits = LIMITS,
) -> PessimisticPolicy:
    """Learn from a log alone: in task s play argmax x @ mean_s - alpha ||x||_cov_s.

    [Hong et al. 2023].  `source` is an `hb.Log`, or what `learn_prior` takes, with its columns
    named.  The prior is fitted to the log unless given.  alpha is sqrt(2 log(1 / delta)) unless
    given, so that a bound fails with probability at most delta; zero is greedy.  An arm has a low
    bound if it was rarely tried in a task and is not known from other tasks either: the policy
    does not bet on what the log does not tell.  A log that is too large for the `limits` is
    refused as soon as that is seen.
    """
    alpha = checked_alpha(delta, alpha)
    columns = {"task": task, "reward": reward, "arm": arm, "population": population}
    sums = GroupSums(limits=limits)
    survey = Survey.of(armed_log(source, columns, arms), with_each=sums.add)
    table = feature_table(arm_features, survey.arms)
    if prior is None and table is None:
        limits.check_fit(survey.num_tasks, len(survey.arms), armed=True)
    total, prior = sums.total(), checked_prior(prior, survey, table)
    return PessimisticPolicy.of(Training.of(survey, 0, total, prior, table), alpha, total.xx)


def checked_alpha(delta: float, alpha: float | None) -> float:
    """alpha if it is given, and otherwise the alpha that belongs to delta."""
    if alpha is None:
        return ucb_width(delta)
    if not 0 <= alpha < np.inf:
        raise ValueError(f"alpha must be a number of at least 0, got {alpha!r}")
    return float(alpha)
