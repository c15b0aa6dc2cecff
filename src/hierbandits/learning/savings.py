"""What sharing would have saved: policies in worlds drawn from the learned hierarchy."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.environments import HierarchicalBandit, SampledActions
from hierbandits.learning.model_comparison import Comparison
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.reporting.progress import Progress
from hierbandits.simulation.schedules import Federated
from hierbandits.simulation.simulator import simulate
from hierbandits.simulation.study import Study
from hierbandits.types import Indices, Matrix, Vector

if TYPE_CHECKING:
    from hierbandits.fitting import Fit

COMPARED = ("HierTS", "TS", "PooledTS", "OracleTS")
OTHERS = ("TS", "PooledTS")
MOST_TASKS, MOST_ROUNDS, ARMS = 50, 100, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """How much less regret HierTS has than another policy, in the same worlds."""

    over: str
    difference: float  # the other's mean final regret less HierTS's
    difference_error: float  # paired
    percent: float  # the difference as a share of the other's regret
    percent_error: float

    @classmethod
    def of(cls, study: Study, over: str) -> "Saving":
        """Read a study.  If the other policy has no regret at all, the saving is 0 %."""
        difference, error = study.difference(over, "HierTS")
        ratio, ratio_error = study.ratio("HierTS", over)
        return cls(
            over=over,
            difference=difference,
            difference_error=error,
            percent=100 * (1 - ratio),
            percent_error=100 * ratio_error,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Savings:
    """Regret in worlds that a newcomer to the learned hierarchy would face.

    mu is drawn anew for each world, and OracleTS alone knows it: its regret is what would remain if
    mu had been learned before.  Every task acts once in every round.
    """

    hierarchy: GaussianHierarchy  # of the worlds
    num_tasks: int
    num_rounds: int
    runs: int
    study: Study
    savings: tuple[Saving, ...]

    def regret(self, policy: str) -> tuple[float, float]:
        """The mean final regret over all tasks, and its standard error."""
        return self.study.mean(policy)

    @classmethod
    def of(
        cls,
        hierarchy: GaussianHierarchy,
        rows: Vector,  # of each task of the log
        population: Indices,
        sample: Matrix | None,
        *,
        runs: int,
        seed: int,
        progress: Progress = None,
    ) -> "Savings":
        """Simulate as many tasks and rounds as the log typically has.

        At most MOST_TASKS and MOST_ROUNDS.
        """
        num_tasks = int(np.median(np.bincount(population)))
        num_rounds = int(np.median(rows[rows > 0]))
        world = HierarchicalBandit(
            hierarchy=hierarchy,
            num_tasks=min(max(num_tasks, 1), MOST_TASKS),
            actions=None if sample is None else SampledActions(sample, ARMS),
        )
        num_rounds = min(max(num_rounds, 1), MOST_ROUNDS)
        study = simulate(
            world, COMPARED, Federated(), runs, seed, num_interactions=num_rounds,
            progress=progress,
        )  # fmt: skip
        return cls(
            hierarchy=hierarchy,
            num_tasks=world.num_tasks,
            num_rounds=num_rounds,
            runs=runs,
            study=study,
            savings=tuple(Saving.of(study, other) for other in OTHERS),
        )


def hierarchy_of_worlds(fit: "Fit", comparison: Comparison, many: bool) -> GaussianHierarchy:
    """The hierarchy of worlds like the log's, before anything is known of their mu.

    With several populations the hyper-prior was learned.  One population has one mu, which does
    not tell how wide mu's distribution is; then mu ~ N(c, q^2 U^2) as in the comparison, with its
    typical q.  The widths of tasks and the noise are the fit's, with one exception: where the log
    does not tell a width from zero, the fit's weak prior has kept it off zero, and the
    comparison's typical t takes its place if it is smaller.
    """
    learned, (task, hyper) = fit.prior, comparison.typical["hierarchical"]
    unit, widths = learned.noise_std * comparison.unit, fit.task_widths
    ratio = np.where(widths.maybe_zero, np.minimum(1.0, task * unit / widths.std), 1.0)
    task_cov = learned.task_cov * (ratio**2 if learned.is_diagonal else np.outer(ratio, ratio))
    if many:
        return learned.with_levels(learned.hyper_mean, [learned.hyper_cov, task_cov])
    var = (hyper * unit) ** 2
    mean = np.full(learned.dim, comparison.centre)
    return learned.with_levels(mean, [var if learned.is_armed else np.diag(var), task_cov])
