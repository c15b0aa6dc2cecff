"""The folder that an evaluation leaves: a page to read, figures, Parquet and JSON."""

from typing import Any

from hierbandits.evaluation.evaluation import Evaluation
from hierbandits.evaluation.evaluation_figures import (
    MOST_TASKS,
    cut_limits,
    estimates_figure,
    tasks_figure,
)
from hierbandits.evaluation.evaluation_tables import tables
from hierbandits.evaluation.pessimistic_policy import MOST_ROWS, PessimisticPolicy
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.report import Report


def report(evaluation: Evaluation, learned: PessimisticPolicy | None) -> Report:
    """The page, with the arms of HierOPO if they were learned."""
    settings = dict(evaluation.settings)
    page = Report("evaluate", "What would these policies have earned?", settings)
    page.text(
        f"{settings['rows']:,} logged rows of {settings['tasks']:,} tasks and "
        f"{len(settings['arms'])} arms.",
        *evaluation.notes,
    )
    page.text(*(f"Warning: {warning}" for warning in evaluation.warnings))
    first, *others = tables(evaluation)
    page.table(*first)
    page.figure("estimates", estimates_figure(evaluation), _estimates_caption(evaluation))
    for table in others:
        page.table(*table)
    if evaluation.diagnostics:
        page.text(_READING)
    page.figure("tasks", tasks_figure(evaluation), _tasks_caption(evaluation))
    if learned is not None:
        _arms(page, learned)
    page.frame("estimates", evaluation.frame())
    page.frame("tasks", evaluation.task_frame())
    page.rows += [plain(each) | _trust(evaluation, each.policy) for each in evaluation.estimates]
    settings["warnings"] = list(evaluation.warnings)
    page.settings |= settings
    return page


def _arms(page: Report, learned: PessimisticPolicy) -> None:
    columns, rows = learned.cells()
    shown = f", {MOST_ROWS} of {len(rows):,} tasks" if len(rows) > MOST_ROWS else ""
    page.table(f"HierOPO's arms from all rows{shown}", columns, rows[:MOST_ROWS])
    page.text(
        f"The lower bound is the mean less {learned.alpha:.3g} standard deviations.  All tasks are "
        "in hieropo.parquet."
    )
    page.frame("hieropo", learned.frame())


def _estimates_caption(evaluation: Evaluation) -> str:
    return (
        "Estimated mean rewards.  The dotted line and its band are the mean of the logged rewards."
        + ("  DM's intervals do not cover what is wrong with the model."
           if any(each.method == "dm" for each in evaluation.estimates) else "")
        + ("" if cut_limits(evaluation) is None else "  Very long intervals are cut.")
    )  # fmt: skip


def _tasks_caption(evaluation: Evaluation) -> str:
    some = "Every task"
    if len(evaluation.tasks) > MOST_TASKS:
        some = f"The {MOST_TASKS} tasks with most rows, of {len(evaluation.tasks):,}"
    return (
        f"{some}, from its own rows.  Upright marks: the mean logged reward.  Hollow: too few rows "
        "for an interval.  The longest intervals are cut."
    )


def _trust(evaluation: Evaluation, policy: str) -> dict[str, Any]:
    """The diagnostics of a policy, as part of a row of summary.json."""
    if policy in evaluation.diagnostics:
        return {"diagnostics": plain(evaluation.diagnostics[policy])}
    if policy in evaluation.replays:
        found = evaluation.replays[policy]
        numbers = {"offered": found.offered, "kept": found.kept, "accepted": found.accepted}
        return {"diagnostics": numbers}
    return {"diagnostics": None}


_READING = (
    "A row's weight is the policy's probability of the logged arm over the log's propensity.  "
    "Effective rows: as many rows of equal weight would be as good.  The mean weight is 1, but for "
    "chance, if the propensities are right and the log tries every arm that the policy plays.  "
    "Never logged: the share of the policy's choices that were never made in their task."
)
