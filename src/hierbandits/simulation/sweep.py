"""A sweep: policies in several worlds under several schedules, with one table out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from hierbandits.environments.environment import Environment
from hierbandits.policies.recipes import Recipe
from hierbandits.reporting.figure import panels
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.reporting.pandas_frame import as_pandas
from hierbandits.reporting.parquet_file import write_parquet
from hierbandits.reporting.picture import Picture
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.reporting.report import Report
from hierbandits.reporting.shown_name import figure_name
from hierbandits.simulation.plots import regret_curves
from hierbandits.simulation.schedules import SCHEDULES, Schedule
from hierbandits.simulation.simulator import simulate
from hierbandits.simulation.study import Study
from hierbandits.workers.backends import LOCAL

_COLUMNS = 3  # of plots


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sweep:
    """A study for each world and schedule, in that order."""

    studies: Mapping[tuple[str, str], Study]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each world, schedule and policy.

        It has the mean final regret and its standard error, and the paired difference from the
        first policy with its own.
        """
        rows = []
        for (world, schedule), study in self.studies.items():
            first = next(iter(study.outcomes))
            for row in study.summary(first):
                rows.append({"world": world, "schedule": schedule, **row})
        return rows

    def frame(self) -> Any:
        """`rows` as a polars frame."""
        import polars as pl

        return pl.DataFrame(self.rows())

    def to_pandas(self) -> Any:
        """`rows` as a pandas frame."""
        return as_pandas(self.frame())

    def write_parquet(self, path: str | PathLike[str]) -> None:
        """Write `rows` to a Parquet file, whole or not at all."""
        write_parquet(self.frame(), path)

    def picture(self) -> Picture:
        """Cumulative regret against rounds, a plot for each world and schedule."""
        figure, axes = panels(len(self.studies), columns=_COLUMNS)
        for plot, ((world, schedule), study) in zip(axes, self.studies.items(), strict=True):
            regret_curves(plot, study, f"{figure_name(world)}, {figure_name(schedule)}")
        return Picture(figure, "Regret against rounds. Bands are one standard error.")

    def report(self, settings: Mapping[str, Any] | None = None) -> Report:
        """A page with the table and the figure, and both as files."""
        report = Report("sweep", "Policies in several worlds", dict(settings or {}))
        report.text(
            "Every policy meets the same worlds and the same luck, so that differences are paired."
        )
        report.table(*self._table())
        picture = self.picture()
        report.figure("sweep", picture.figure, picture.caption)
        report.frame("sweep", self.frame())
        report.rows += self.rows()
        return report

    def write(self, folder: str | Path) -> Path:
        """Write the report into a folder; returns where the page is."""
        return self.report().write(folder)

    def _table(self) -> tuple[str, tuple[str, ...], list[list[str]]]:
        rows = []
        for (world, schedule), study in self.studies.items():
            first, *_ = study.outcomes
            for name in study.outcomes:
                mean, error = study.mean(name)
                gap, gap_error = study.difference(name, first)
                apart = ("", "") if name == first else (f"{gap:+.3g}", f"{gap_error:.2g}")
                rows.append([world, schedule, name, f"{mean:.4g}", f"{error:.2g}", *apart])
        columns = ("world", "schedule", "policy", "regret", "± s.e.", "minus the first", "± s.e.")
        return "Final regret over all tasks", columns, rows

    def __repr__(self) -> str:
        worlds, schedules = (dict.fromkeys(names) for names in zip(*self.studies, strict=True))
        study = next(iter(self.studies.values()))
        return (
            f"<Sweep of {len(worlds)} worlds, {len(schedules)} schedules and "
            f"{len(study.outcomes)} policies, {study.runs:,} runs each>"
        )

    def _repr_html_(self) -> str:
        return notebook_card(repr(self), (), [self._table()])


def sweep(
    worlds: Mapping[str, Environment],
    policies: Sequence[str] | Mapping[str, Recipe],
    schedules: Sequence[str] | Mapping[str, Schedule] = ("federated",),
    runs: int = 1000,
    seed: int = 0,
    *,
    num_interactions: int = 200,
    jobs: int = 1,
    backend: str = LOCAL,
    checkpoint: str | Path | None = None,
    progress: Progress = None,
) -> Sweep:
    """`simulate` for every world and schedule, both by name; the rest is as there.

    A schedule is named as in SCHEDULES, or a mapping gives it a name.
    """
    if not isinstance(worlds, Mapping) or not worlds:
        raise ValueError(f"worlds must be a mapping from name to environment, got {worlds!r:.80}")
    chosen = _schedules(schedules)
    studies: dict[tuple[str, str], Study] = {}
    total = len(worlds) * len(chosen) * len(policies) * runs if isinstance(runs, int) else None
    with progress_bar("Simulating", total, progress) as steps:
        for world, environment in worlds.items():
            for name, schedule in chosen.items():
                before = steps.done

                def tell(done: int, _: int | None, before: int = before) -> None:
                    steps.update(before + done, total)

                try:
                    studies[world, name] = simulate(
                        environment,
                        policies,
                        schedule,
                        runs,
                        seed,
                        num_interactions=num_interactions,
                        jobs=jobs,
                        backend=backend,
                        checkpoint=checkpoint,
                        progress=tell,
                    )
                except ValueError as error:
                    raise ValueError(f"world {world!r}, schedule {name!r}: {error}") from error
    return Sweep(studies)


def _schedules(schedules: Sequence[str] | Mapping[str, Schedule]) -> dict[str, Schedule]:
    """The schedules by name, checked."""
    if isinstance(schedules, Mapping):
        chosen = dict(schedules)
    elif isinstance(schedules, str) or not all(name in SCHEDULES for name in schedules):
        chosen = {}
    else:
        chosen = {name: SCHEDULES[name] for name in schedules}
    if not chosen:
        raise ValueError(
            f"schedules must be names among {', '.join(SCHEDULES)}, or a mapping from name to "
            f"schedule, got {schedules!r:.80}"
        )
    return chosen
