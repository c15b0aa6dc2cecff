"""The folder that an evaluation leaves: a page to read, figures, Parquet and JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hierbandits.evaluation.difference import LOGGED
from hierbandits.evaluation.evaluation import Estimate, Evaluation
from hierbandits.evaluation.evaluation_figures import (
    MOST_TASKS,
    cut_limits,
    differences_figure,
    estimates_figure,
    replays_figure,
    tasks_figure,
)
from hierbandits.evaluation.evaluation_tables import Table, tables
from hierbandits.evaluation.evaluation_unseen import unseen_table
from hierbandits.evaluation.pessimistic_policy import MOST_ROWS, PessimisticPolicy
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.report import Report
from hierbandits.reporting.shown_name import shown_name

if TYPE_CHECKING:
    from rich.console import Console


def report(evaluation: Evaluation) -> Report:
    """The whole report, with the arms of HierOPO if they were learned."""
    settings = dict(evaluation.settings)
    page = Report("evaluate", "What would these policies have earned?", settings)
    page.answer(evaluation.verdict.sentence, _certainty(evaluation))
    frozen = any(each.method != "replay" for each in evaluation.estimates[1:])
    if frozen:
        figure = differences_figure(evaluation)
        page.figure("differences", figure, _differences_caption(evaluation))
    else:
        page.figure("replays", replays_figure(evaluation), _values_caption(evaluation, "replay"))
    first, *others = tables(evaluation)
    page.table(*first)
    if evaluation.warnings:
        page.heading("Warnings")
    page.text(*_counted(evaluation.warnings))
    for table in others:
        page.table(*table)
        page.text(*_READING.get(table[0].split(":")[0], ()))
    if frozen:
        page.figure("estimates", estimates_figure(evaluation), _values_caption(evaluation, ""))
    page.figure("tasks", tasks_figure(evaluation), _tasks_caption(evaluation))
    if evaluation.hieropo is not None:
        page.table(*_arms(evaluation.hieropo))
        page.text(
            "Regret at most: how much less than the task's best arm it may earn, if comparisons of "
            f"{evaluation.hieropo.alpha:.3g} standard deviations hold. All tasks are in "
            "hieropo.parquet."
        )
        page.frame("hieropo", evaluation.hieropo.frame())
    page.heading("What was done")
    page.text(
        f"{settings['rows']:,} logged rows of {settings['tasks']:,} tasks and "
        f"{len(settings['arms'])} arms.",
        *evaluation.notes,
    )
    page.table(*unseen_table(evaluation))
    evaluation.log.add_to(page)
    page.frame("estimates", evaluation.frame())
    page.frame("tasks", evaluation.task_frame())
    page.rows += [plain(each) | _beside(evaluation, each) for each in evaluation.estimates]
    page.document("report", evaluation.to_dict())
    settings["verdict"] = evaluation.verdict.sentence
    settings["warnings"] = list(evaluation.warnings)
    page.settings |= settings
    return page


def show(evaluation: Evaluation, console: "Console | None") -> None:
    """Print the verdict, the tables, the warnings and the notes."""
    from rich.console import Console

    console = console or Console()

    def say(*paragraphs: str) -> None:
        for paragraph in paragraphs:
            console.print(paragraph, end="\n\n", markup=False, highlight=False)

    say(evaluation.verdict.sentence, _certainty(evaluation))
    page = Report("evaluate", "", {})
    for table in tables(evaluation):
        page.table(*table)
    if evaluation.hieropo is not None:
        page.table(*_arms(evaluation.hieropo))
    page.show(console)
    say(*_counted(evaluation.warnings), *evaluation.notes)


def _certainty(evaluation: Evaluation) -> str:
    """How far the verdict can be trusted."""
    verdict, count = evaluation.verdict, len(evaluation.warnings)
    parts = []
    if verdict.compared > 1:
        parts.append(
            f"It speaks of the best of {verdict.compared} policies, so its intervals are wide "
            "enough to hold for all of them at once; those in the tables are for each alone."
        )
    plural = "" if count == 1 else "s"
    parts.append(f"{count} warning{plural} below." if count else "There are no warnings.")
    return " ".join(parts)


def _counted(warnings: tuple[str, ...]) -> Iterator[str]:
    for place, warning in enumerate(warnings, 1):
        yield f"Warning {place} of {len(warnings)}: {warning}"


def _arms(hieropo: PessimisticPolicy) -> Table:
    """The table of HierOPO's arms."""
    columns, rows = hieropo.cells()
    part = f", {MOST_ROWS} of {len(rows):,} tasks" if len(rows) > MOST_ROWS else ""
    return f"HierOPO's arms from all rows{part}", columns, rows[:MOST_ROWS]


def _differences_caption(evaluation: Evaluation) -> str:
    """What this run's differences show."""
    trusted = {(each.policy, each.method) for each in evaluation.trusted()}
    found = []
    for against in (LOGGED, evaluation.reference):
        than = "the log" if against == LOGGED else "the best single arm"
        signs: dict[str, list[str]] = {"more": [], "less": []}
        shown = [
            each
            for each in evaluation.differences
            if each.against == against
            and (each.policy, each.method) in trusted
            and each.method != "replay"
        ]
        for each in shown:
            if each.low > 0 or each.high < 0:
                signs["more" if each.low > 0 else "less"].append(shown_name(each.policy))
        told = [f"{', '.join(names)} ({sign})" for sign, names in signs.items() if names]
        if shown:
            which = ", ".join(told) if told else "none"
            found.append(f"Told from {than}, each by itself: {which}.")
    return " ".join(
        ["Reward per decision beyond the dotted line, on the same rows; right is better.", *found]
    )


def _values_caption(evaluation: Evaluation, method: str) -> str:
    logged = evaluation.estimates[0]
    shown = [
        each
        for each in evaluation.estimates[1:]
        if (each.method == "replay") == (method == "replay")
    ]
    return (
        "Estimated mean rewards by every method. The dotted line and its band are the mean of the "
        f"logged rewards, {logged.value:.4g}."
        + (" DM's intervals do not cover what is wrong with the model."
           if any(each.method == "dm" for each in shown) else "")
        + ("" if cut_limits([logged, *shown]) is None else " Very long intervals are cut.")
    )  # fmt: skip


def _tasks_caption(evaluation: Evaluation) -> str:
    which = "Every task"
    if len(evaluation.tasks) > MOST_TASKS:
        which = f"The {MOST_TASKS} tasks with most rows, of {len(evaluation.tasks):,}"
    return (
        f"{which}, from its own rows. Upright marks: the mean logged reward. Hollow: too few "
        f"rows for an interval. The longest intervals are cut.{_better_tasks(evaluation)}"
    )


def _better_tasks(evaluation: Evaluation) -> str:
    """In how many tasks the policy of the verdict earns more than the log, and less."""
    best = evaluation.verdict.policy
    for each in evaluation.trusted():
        if each.policy == best:
            tasks = evaluation.by_task[best, each.method].estimates
            more, less = (
                int((tasks.improvement_low > 0).sum()),
                int((tasks.improvement_high < 0).sum()),
            )
            return (
                f" Each task by itself, {shown_name(best)} is told to earn more than the log in "
                f"{more:,} of {len(evaluation.tasks):,}, and less in {less:,}."
            )
    return ""


def _beside(evaluation: Evaluation, estimate: Estimate) -> dict[str, Any]:
    """The differences and the diagnostics of an estimate, as part of a row of summary.json."""
    differences = [
        each
        for each in evaluation.differences
        if (each.policy, each.method) == (estimate.policy, estimate.method)
    ]
    trust: dict[str, Any] = {**evaluation.diagnostics, **evaluation.replays}
    return {
        "differences": plain(differences),
        "diagnostics": plain(trust.get(estimate.policy)),
    }


_READING = {
    "Replay": (
        "Replay answers another question than the estimates above: what a policy earns while it "
        "learns. It starts from the prior alone, without any data of its tasks, and meets only the "
        "rows where it agrees with the log, so its early mistakes weigh more than they would in "
        "the whole log. Do not compare its mean reward with that of a policy that has learned "
        "already. For HierTS after this log, evaluate frozen:HierTS.",
    ),
    "Weights": (
        "A row's weight is the policy's probability of the logged arm over the log's propensity. "
        "Effective rows: as many rows of equal weight would be as good. The mean weight is 1, but "
        "for chance, if the propensities are right and the log tries every arm that the policy "
        "plays. Never logged: the share of the policy's choices that were never made in their "
        "task.",
    ),
}
"""What the numbers of a table mean, by the first word of its heading."""
