"""What the paper does not show: the same problem as tasks grow apart."""

from collections.abc import Mapping

from hierbandits.experiments.experiment import (
    RESULT_COLUMNS,
    Experiment,
    Options,
    StudyRunner,
    add_rows,
    paper_problem,
    result_rows,
)
from hierbandits.experiments.findings import certainty, of_errors, sure, totals
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.plots import error_bars
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study

COMPARED = ("HierTS", "PooledTS", "TS", "OracleTS")
HYPER_STD, ROUND_SIZE, TASKS = 1.0, 5, 10
TASK_STDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
QUICK = (0.02, 0.1, 0.3, 1.0)


def run(options: Options) -> Report:
    """Final regret against sigma_0, from nearly equal tasks to tasks as wide as the hyper-prior."""
    runs = options.num_runs(1000, 100)
    widths = QUICK if options.quick else TASK_STDS
    compared, size = options.compared(COMPARED), options.round_size(ROUND_SIZE)
    num_tasks = options.num_tasks(TASKS)
    runner = StudyRunner(options, runs * len(compared) * len(widths))
    report = Report(
        "similarity",
        "How alike must tasks be? Pooling, hierarchy and independence",
        {
            "runs": runs,
            "seed": options.seed,
            "sigma_q": HYPER_STD,
            "sigma_0": widths,
            "L": size,
            "m": num_tasks,
        },
    )
    studies = {
        width: runner.run(
            paper_problem(HYPER_STD, width, num_tasks), compared, Concurrent(size), runs
        )
        for width in widths
    }
    figure, (axes,) = panels(1, height=4.4)
    lines = {name: [study.mean(name) for study in studies.values()] for name in compared}
    error_bars(
        axes,
        widths,
        lines,
        f"final regret, m = {num_tasks}, L = {size}",
        "task width $\\sigma_0$",
        log=True,
    )
    report.answer(_answer(studies), certainty(runs))
    ends = [
        f"at sigma_0 = {width:g} {totals(studies[width], compared)}"
        for width in (widths[0], widths[-1])
    ]
    report.figure(
        "similarity",
        figure,
        f"Final regret as tasks grow apart: {'; '.join(ends)}. "
        + of_errors(runs, "Bars are one standard error."),
    )
    for width, study in studies.items():
        add_rows(report, study, "", sigma_q=HYPER_STD, sigma_0=width, L=size)
        report.table(f"sigma_0 = {width:g}", RESULT_COLUMNS, result_rows(study))
        report.frame(f"tasks_{width:g}", study.task_frame())
    return report


def _answer(studies: Mapping[float, Study]) -> str:
    """At how many widths the hierarchy is better or worse than the better of the two others."""
    less = more = 0
    known = next(iter(studies.values())).outcomes
    rivals = [name for name in ("PooledTS", "TS") if name in known]
    rivals = rivals or [name for name in known if name != "HierTS"] or ["HierTS"]
    for study in studies.values():
        best = min(rivals, key=lambda name: study.mean(name)[0])
        ratio, error = study.ratio("HierTS", best)
        reach = 0.0 if study.runs == 1 else sure(study.runs) * error
        less, more = less + (ratio < 1 - reach), more + (ratio > 1 + reach)
    return (
        f"Against the better of {' and '.join(rivals)}, HierTS has less regret at {less} of "
        f"{len(studies)} widths of tasks, more at {more}, and about as much at "
        f"{len(studies) - less - more}."
    )


EXPERIMENT = Experiment(
    "regret as tasks grow apart: where pooling or independence wins",
    run,
    ("tasks", "concurrent", "policies"),
)
