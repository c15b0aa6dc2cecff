"""What every experiment is given and what it returns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierbandits.environments import ActionSets, Environment, HierarchicalBandit
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.reporting.progress import Listener, Steps
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import shown_error
from hierbandits.simulation.schedules import Schedule
from hierbandits.simulation.simulator import simulate
from hierbandits.simulation.study import Study
from hierbandits.workers.backends import LOCAL

SUMMARY_KEYS = ("experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs")
"""Every row of an experiment's summary.json has these, and the regret's mean and standard_error."""

RESULT_COLUMNS = ("policy", "regret", "± s.e.", "minus HierTS", "± s.e. (paired)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may set for an experiment."""

    runs: int | None = None  # the experiment's own default
    seed: int = 0
    jobs: int = 1
    backend: str = LOCAL  # who simulates; see `simulate`
    quick: bool = False
    checkpoint: Path | None = None
    progress: Listener | None = None  # told of the runs of all studies
    # What an experiment `takes`; it has its own defaults.
    tasks: int | None = None  # the number of tasks
    concurrent: int | None = None  # the tasks of a round, L
    policies: Mapping[str, Recipe] | None = None  # those compared, with HierTS
    data: Path | None = None  # a folder with MNIST's files
    dataset: str | None = None
    digits: tuple[int, ...] = ()  # positive classes
    estimator: str | None = None  # of theta_s
    arms_from: str | None = None  # the pictures that a task offers

    def num_runs(self, usual: int, quick: int) -> int:
        """The number of runs asked for, or the experiment's own."""
        if self.runs is not None:
            return self.runs
        return quick if self.quick else usual

    def num_tasks(self, usual: int) -> int:
        """The number of tasks asked for, or the experiment's own."""
        return usual if self.tasks is None else self.tasks

    def round_size(self, usual: int) -> int:
        """The tasks of a round that are asked for, or the experiment's own."""
        return usual if self.concurrent is None else self.concurrent

    def compared(self, usual: Sequence[str]) -> dict[str, Recipe]:
        """The policies asked for, or the experiment's own; HierTS is always one of them."""
        if self.policies is None:
            return {name: POLICIES[name] for name in usual}
        return {"HierTS": POLICIES["HierTS"], **self.policies}


@dataclass(frozen=True, slots=True)
class Experiment:
    """A one-line summary of an experiment, the function that runs it, and what it takes.

    Every experiment takes runs, seed, jobs, backend and quick; `takes` names other fields of its
    options.
    """

    summary: str
    run: Callable[[Options], Report]
    takes: tuple[str, ...] = ()


class StudyRunner:
    """Runs the studies of one experiment with its options, and counts their runs together."""

    def __init__(self, options: Options, total: int) -> None:
        self._options = options
        self._steps = Steps(total, options.progress)

    def run(
        self,
        environment: Environment,
        policies: Sequence[str] | Mapping[str, Recipe],
        schedule: Schedule,
        runs: int,
        *,
        num_interactions: int = 200,
        snapshot_every: int = 0,
        points: int = 200,
    ) -> Study:
        """`simulate` with the seed, jobs, backend, checkpoint and progress of the options."""
        before, total = self._steps.done, self._steps.total
        return simulate(
            environment,
            policies,
            schedule,
            runs,
            self._options.seed,
            num_interactions=num_interactions,
            jobs=self._options.jobs,
            backend=self._options.backend,
            points=points,
            snapshot_every=snapshot_every,
            checkpoint=self._options.checkpoint,
            progress=lambda done, _: self._steps.update(before + done, total),
        )


def paper_problem(hyper_std: float, task_std: float, num_tasks: int = 10) -> HierarchicalBandit:
    """The synthetic problem: d = 2, ten arms uniform in [-1/2, 1/2]^2, noise 1/2.

    One action set for each run, since the paper's setting shares it.  [HBB, Section Experiments]
    """
    prior = GaussianHierarchy.linear(2, hyper_std=hyper_std, task_std=task_std, noise_std=0.5)
    return HierarchicalBandit(hierarchy=prior, num_tasks=num_tasks, actions=ActionSets(10))


def result_rows(study: Study) -> list[list[str]]:
    """The cells of RESULT_COLUMNS: final regrets, and paired differences from HierTS."""
    rows = []
    for row in study.summary("HierTS"):
        own = row["policy"] == "HierTS"
        rows.append(
            [
                row["policy"],
                f"{row['mean']:.2f}",
                shown_error(row["standard_error"]),
                "" if own else f"{row['difference']:+.2f}",
                "" if own else shown_error(row["difference_error"]),
            ]
        )
    return rows


def add_row(report: Report, *, panel: str, policy: str, runs: int, **values: Any) -> None:
    """Add a row to summary.json; what a panel does not vary or state is None."""
    row = dict.fromkeys(SUMMARY_KEYS)
    row |= {"experiment": report.experiment, "panel": panel, "policy": policy, "runs": runs}
    report.row(**row | values)


def add_rows(report: Report, study: Study, panel: str, **values: Any) -> None:
    """Add a row for each policy of the study to summary.json."""
    for row in study.summary("HierTS"):
        add_row(report, panel=panel, **values, **row)


def labelled(parts: Iterable[tuple[Any, Mapping[str, str | int | float | bool]]]) -> Any:
    """The frames of several studies in one frame; columns with these values tell them apart."""
    import polars as pl

    kinds = {str: pl.String, bool: pl.Boolean, int: pl.Int64, float: pl.Float64}
    return pl.concat(
        frame.with_columns(**{n: pl.lit(v, kinds[type(v)]) for n, v in labels.items()})
        for frame, labels in parts
    )
