"""HierOPO: the policy that a log alone can vouch for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.evaluation.arm_features import feature_table
from hierbandits.evaluation.armed_log import armed_log
from hierbandits.evaluation.regret_bounds import RegretBounds
from hierbandits.evaluation.reward_model import Stated
from hierbandits.evaluation.training import Training, checked_prior
from hierbandits.logs import LIMITS, GroupSums, Limits, Log, Survey
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
    """In every task the arm whose regret has the least upper bound.

    A frozen policy: `policy(task, arms)` gives the probabilities of these arms, as `evaluate`
    asks for them.  Do not evaluate it on the rows that it was learned from, which flatter it:
    `evaluate(log, "HierOPO")` learns it from other rows than it is judged by.
    """

    log: Log
    prior: Stated
    tasks: tuple[Name, ...]
    arms: tuple[Name, ...]
    bounds: RegretBounds
    plays: Matrix  # how often the log played each arm, (tasks, K)

    @classmethod
    def of(cls, training: Training, alpha: float, plays: Matrix) -> "PessimisticPolicy":
        """The policy that is learned from these rows."""
        survey, model = training.survey, training.model()
        return cls(
            survey.log, training.prior, survey.tasks, survey.arms, RegretBounds.of(model, alpha),
            plays,
        )  # fmt: skip

    @property
    def alpha(self) -> float:
        """How many standard deviations a comparison allows for."""
        return self.bounds.alpha

    @property
    def mean(self) -> Matrix:
        """Posterior mean rewards, (tasks, K)."""
        return self.bounds.mean

    @property
    def regret(self) -> Matrix:
        """Upper bounds of what each arm earns less than its task's best, (tasks, K)."""
        tasks = np.arange(len(self.tasks))
        return self.bounds.bounds(tasks, np.ones(self.mean.shape, np.bool_))

    @property
    def choices(self) -> Indices:
        """The arm's number in each task if all are eligible, (tasks,); of equal ones, the first."""
        best: Indices = self.regret.argmin(axis=1)
        return best

    def arm(self, task: Name, arms: Sequence[Name] | None = None) -> Name:
        """The arm to play in a task of the log, among these if not all are eligible."""
        if task not in self.tasks:
            raise ValueError(f"task must be one of the log's {len(self.tasks)}, got {task!r}")
        eligible = np.ones((1, len(self.arms)), np.bool_)
        if arms is not None:
            eligible[:] = False
            eligible[0, [self._place(arm) for arm in arms]] = True
        bounds = self.bounds.bounds(np.array([self.tasks.index(task)]), eligible)
        return self.arms[int(bounds[0].argmin())]

    def __call__(self, task: Name, arms: tuple[Name, ...]) -> dict[Name, float]:
        """All probability on one arm."""
        return {self.arm(task, arms): 1.0}

    def _place(self, arm: Name) -> int:
        if arm not in self.arms:
            raise ValueError(f"arms must be of the log ({self.arms!r:.80}), got {arm!r}")
        return self.arms.index(arm)

    def frame(self) -> "pl.DataFrame":
        """Each task's arm, its mean, the bound of its regret and how often it was played."""
        import polars as pl

        each, best, regret = np.arange(len(self.tasks)), self.choices, self.regret
        return pl.DataFrame(
            {
                "task": list(self.tasks),
                "arm": [self.arms[arm] for arm in best],
                "mean": self.mean[each, best],
                "regret_bound": np.maximum(regret[each, best], 0.0),
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
                to_its_error(mean, bound, 4),
                f"{bound:.3g}",
                str(plays),
                str(rows),
            ]
            for task, arm, mean, bound, plays, rows in self.frame().iter_rows()
        ]
        return ["task", "arm", "mean", "regret at most", "plays", "rows"], rows

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
    prior: Stated | None = None,
    arm_features: Mapping[Name, Any] | None = None,
    delta: float = 0.05,
    alpha: float | None = None,
    limits: Limits = LIMITS,
) -> PessimisticPolicy:
    """Learn from a log alone: in every task play the arm whose regret has the least upper bound.

        bound(a) = max over the other arms b of  (x_b - x_a) @ mean_s + alpha ||x_b - x_a||_cov_s

    The posterior is that of [Hong et al. 2023].  They play the arm of highest lower bound,
    x @ mean_s - alpha ||x||_cov_s, which shuns what was rarely tried even where it is the best;
    comparisons between arms do not.  `source` is an `hb.Log`, or what `learn_prior` takes, with
    its columns named.  The prior is fitted to the log unless given.  alpha is
    sqrt(2 log(1 / delta)) unless given, so that a comparison fails with probability at most delta;
    zero is greedy.  A log that is too large for the `limits` is refused as soon as that is seen.
    """
    alpha = checked_alpha(delta, alpha)
    columns = {"task": task, "reward": reward, "arm": arm, "population": population}
    sums = GroupSums(limits=limits)
    log = armed_log(source, columns, arms)
    if log.encoder is not None:
        raise ValueError(
            "log must not have contexts for hieropo, which plays one arm in each task: evaluate "
            f"'HierOPO', which chooses in each context, got {log.encoder!r:.200}"
        )
    survey = Survey.of(log, with_each=sums.add)
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
