"""Meta-learning: one task after another, each started with what the earlier ones taught."""

import numpy as np

from hierbandits.experiments.experiment import (
    RESULT_COLUMNS,
    Experiment,
    Options,
    StudyRunner,
    add_rows,
    paper_problem,
    result_rows,
)
from hierbandits.experiments.findings import certainty, number, of_errors
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import shown_error
from hierbandits.simulation.plots import error_bars
from hierbandits.simulation.schedules import MetaLearning
from hierbandits.simulation.study import mean_and_error

COMPARED = ("HierTS", "TS", "OracleTS", "PooledTS")
HYPER_STD, TASK_STDS, TASKS = 1.0, (0.1, 0.3), 20


def run(options: Options) -> Report:
    """The regret of each task in the order they are met: the setting of AdaTS and MetaTS."""
    runs = options.num_runs(1000, 100)
    compared, num_tasks = options.compared(COMPARED), options.num_tasks(TASKS)
    runner = StudyRunner(options, runs * len(compared) * len(TASK_STDS))
    report = Report(
        "meta",
        "Meta-learning: the regret of each task in turn",
        {"runs": runs, "seed": options.seed, "sigma_q": HYPER_STD, "sigma_0": TASK_STDS}
        | {"m": num_tasks, "n": 200},
    )
    figure, axes = panels(2)
    tasks = np.arange(1, num_tasks + 1)
    tables, found, ends = [], [], []
    for plot, width in zip(axes, TASK_STDS, strict=True):
        study = runner.run(
            paper_problem(HYPER_STD, width, num_tasks=num_tasks), compared, MetaLearning(), runs
        )
        lines = {
            name: [mean_and_error(column) for column in study.outcomes[name].per_task.T]
            for name in compared
        }
        error_bars(plot, tasks, lines, f"$\\sigma_0$ = {width}", "task", "regret of the task")
        add_rows(report, study, "", sigma_q=HYPER_STD, sigma_0=width, L=1)
        tables.append((f"sigma_0 = {width}: all tasks", RESULT_COLUMNS, result_rows(study)))
        first, last = ({n: lines[n][at] for n in compared} for at in (0, -1))
        cells = [
            [name] + [text for mean, error in (first[name], last[name])
                      for text in (f"{mean:.2f}", shown_error(error))]
            for name in compared
        ]  # fmt: skip
        columns = ("policy", "first", "± s.e.", "last", "± s.e.")
        tables.append((f"sigma_0 = {width}: the first and the last task", columns, cells))
        found.append(
            f"from {number(*first['HierTS'])} in the first task to {number(*last['HierTS'])} in "
            f"the last for sigma_0 = {width}"
        )
        others = ", ".join(f"{name} {number(*last[name])}" for name in compared)
        ends.append(f"for sigma_0 = {width}, {others}")
        report.frame(f"tasks_{width:g}", study.task_frame())
    axes[1].get_legend().remove()  # the same as on the left
    report.answer(f"The regret of HierTS goes {', and '.join(found)}.", certainty(runs))
    report.figure(
        "meta",
        figure,
        f"Regret of each task in the order they are met. In the last task, {'; '.join(ends)}. "
        + of_errors(runs, "Bars are one standard error."),
    )
    report.text(
        "Tasks come one after another, each for 200 interactions: the sequential setting of "
        "MetaTS (Kveton et al., 2021) and AdaTS (Basu et al., 2021). HierTS starts the first "
        "task as TS does, and every later one with what the earlier ones taught."
    )
    for table in tables:
        report.table(*table)
    return report


EXPERIMENT = Experiment(
    "one task after another: how fast later tasks profit", run, ("tasks", "policies")
)
