"""The folder that an evaluation leaves: a page to read, figures, Parquet and JSON."""

from typing import TYPE_CHECKING, Any

from hierbandits.evaluation.evaluation import Evaluation
from hierbandits.evaluation.evaluation_figures import (
    MOST_TASKS,
    cut_limits,
    estimates_figure,
    tasks_figure,
)
from hierbandits.evaluation.evaluation_tables import Table, tables
from hierbandits.evaluation.pessimistic_policy import MOST_ROWS, PessimisticPolicy
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.report import Report

if TYPE_CHECKING:
    from rich.console import Console


def report(evaluation: Evaluation) -> Report:
    """The whole report, with the arms of HierOPO if they were learned."""
    settings = dict(evaluation.settings)
    page = Report("evaluate", "What would these policies have earned?", settings)
    page.text(
        f"{settings['rows']:,} logged rows of {settings['tasks']:,} tasks and "
        f"{len(settings['arms'])} arms.",
        *evaluation.notes,
    )
    page.text(*(f"Warning: {warning}" for warning in evaluation.warnings))
    evaluation.log.add_to(page)
    first, *others = tables(evaluation)
    page.table(*first)
    page.figure("estimates", estimates_figure(evaluation), _estimates_caption(evaluation))
    for table in others:
        page.table(*table)
    if evaluation.diagnostics:
        page.text(_READING)
    page.figure("tasks", tasks_figure(evaluation), _tasks_caption(evaluation))
    if evaluation.hieropo is not None:
        page.table(*_arms(evaluation.hieropo))
        page.text(
            f"The lower bound is the mean less {evaluation.hieropo.alpha:.3g} standard deviations."
            " All tasks are in hieropo.parquet."
        )
        page.frame("hieropo", evaluation.hieropo.frame())
    page.frame("estimates", evaluation.frame())
    page.frame("tasks", evaluation.task_frame())
    page.rows += [plain(each) | _trust(evaluation, each.policy) for each in evaluation.estimates]
    page.document("report", evaluation.to_dict())
    settings["warnings"] = list(evaluation.warnings)
    page.settings |= settings
    return page


def show(evaluation: Evaluation, console: "Console | None") -> None:
    """Print the notes, the tables and the warnings."""
    from rich.console import Console

    console = console or Console()
    for note in evaluation.notes:
        console.print(note, end="\n\n", markup=False, highlight=False)
    page = Report("evaluate", "", {})
    for table in tables(evaluation):
        page.table(*table)
    if evaluation.hieropo is not None:
        page.table(*_arms(evaluation.hieropo))
    page.show(console)
    for warning in evaluation.warnings:
        console.print(f"Warning: {warning}", end="\n\n", markup=False, highlight=False)


def _arms(hieropo: PessimisticPolicy) -> Table:
    """The table of HierOPO's arms."""
    columns, rows = hieropo.cells()
    part = f", {MOST_ROWS} of {len(rows):,} tasks" if len(rows) > MOST_ROWS else ""
    return f"HierOPO's arms from all rows{part}", columns, rows[:MOST_ROWS]


def _estimates_caption(evaluation: Evaluation) -> str:
    return (
        "Estimated mean rewards. The dotted line and its band are the mean of the logged rewards."
        + (" DM's intervals do not cover what is wrong with the model."
           if any(each.method == "dm" for each in evaluation.estimates) else "")
        + ("" if cut_limits(evaluation) is None else " Very long intervals are cut.")
    )  # fmt: skip


def _tasks_caption(evaluation: Evaluation) -> str:
    which = "Every task"
    if len(evaluation.tasks) > MOST_TASKS:
        which = f"The {MOST_TASKS} tasks with most rows, of {len(evaluation.tasks):,}"
    return (
        f"{which}, from its own rows. Upright marks: the mean logged reward. Hollow: too few "
        "rows for an interval. The longest intervals are cut."
    )


def _trust(evaluation: Evaluation, policy: str) -> dict[str, Any]:
    """The diagnostics of a policy, as part of a row of summary.json."""
    if policy in evaluation.diagnostics:
        return {"diagnostics": plain(evaluation.diagnostics[policy])}
    if policy in evaluation.replays:
        return {"diagnostics": plain(evaluation.replays[policy])}
    return {"diagnostics": None}


_READING = (
    "A row's weight is the policy's probability of the logged arm over the log's propensity. "
    "Effective rows: as many rows of equal weight would be as good. The mean weight is 1, but for "
    "chance, if the propensities are right and the log tries every arm that the policy plays. "
    "Never logged: the share of the policy's choices that were never made in their task."
)
