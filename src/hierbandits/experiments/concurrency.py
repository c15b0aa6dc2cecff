"""HierTS under every schedule: one task at a time, some in a round, all at once."""

from hierbandits.experiments.experiment import (
    Experiment,
    Options,
    StudyRunner,
    add_row,
    labelled,
    paper_problem,
)
from hierbandits.experiments.findings import certainty, number, of_errors
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import shown_error
from hierbandits.simulation.plots import error_bars
from hierbandits.simulation.schedules import SCHEDULES, Concurrent, Federated, Schedule

HYPER_STD, TASK_STD = 1.0, 0.1
LABELS = {
    "sequential": "sequential, in turn",
    "concurrent": "concurrent, L = 5",
    "concurrent-distinct": "concurrent, L = 5, distinct",
}  # in results; the other schedules have their own names
SIZES = (1, 2, 5, 10, 20)
MANY = 20  # tasks, for the sweep over L
COMPARED = ("HierTS", "HierTS-forced")


def run(options: Options) -> Report:
    """Regret under every schedule with the same interactions, and the price of L."""
    runs = options.num_runs(1000, 100)
    sweeps = len(SIZES) * len(COMPARED) * 2
    runner = StudyRunner(options, runs * (len(SCHEDULES) + sweeps))
    report = Report(
        "concurrency",
        "When tasks act together: HierTS across schedules, and the price of L",
        {"runs": runs, "seed": options.seed, "sigma_q": HYPER_STD, "sigma_0": TASK_STD}
        | {
            "schedules": [LABELS.get(name, name) for name in SCHEDULES],
            "L": SIZES,
            "tasks in the sweep": MANY,
        },
    )
    _sweep(report, runner, runs)
    report.text(
        f"Every task has 200 interactions under every schedule; {runs} runs of the same worlds. A "
        "round's rewards are learned at its end, so that acting in many tasks at once delays "
        "what they teach each other."
    )
    _schedules(report, runner, runs)
    return report


def _schedules(report: Report, runner: StudyRunner, runs: int) -> None:
    """The same problem under every schedule."""
    problem = paper_problem(HYPER_STD, TASK_STD)
    rows = []
    frames = []
    for name, schedule in SCHEDULES.items():
        study = runner.run(problem, ["HierTS"], schedule, runs)
        mean, error = study.mean("HierTS")
        label = LABELS.get(name, name)
        add_row(
            report, panel="schedules", policy="HierTS", runs=runs, sigma_q=HYPER_STD,
            sigma_0=TASK_STD, L=_round_size(schedule, problem.num_tasks), schedule=label,
            mean=mean, standard_error=error,
        )  # fmt: skip
        rows.append([label, str(study.rounds[-1]), f"{mean:.2f}", shown_error(error)])
        frames.append((study.task_frame(), {"schedule": label}))
    report.frame("tasks_schedules", labelled(frames))
    report.table(
        "HierTS under each schedule, m = 10", ("schedule", "rounds", "regret", "± s.e."), rows
    )


def _round_size(schedule: Schedule, num_tasks: int) -> int | None:
    """L, the tasks of a round, where it is more than one and always the same."""
    if isinstance(schedule, Concurrent):
        return schedule.size
    return num_tasks if isinstance(schedule, Federated) else None


def _sweep(report: Report, runner: StudyRunner, runs: int) -> None:
    """Regret against L, in the paper's rounds and in rounds of distinct tasks."""
    problem = paper_problem(HYPER_STD, TASK_STD, num_tasks=MANY)
    figure, axes = panels(2)
    frames, tables, found = [], [], []
    for plot, repeats in zip(axes, (True, False), strict=True):
        kind = "the paper's rounds" if repeats else "rounds of distinct tasks"
        lines: dict[str, list[tuple[float, float]]] = {name: [] for name in COMPARED}
        rows = []
        for size in SIZES:
            study = runner.run(problem, COMPARED, Concurrent(size, repeats=repeats), runs)
            frames.append((study.task_frame(), {"L": size, "repeats": repeats}))
            cells = [str(size)]
            for name in COMPARED:
                mean, error = study.mean(name)
                lines[name].append((mean, error))
                cells += [f"{mean:.2f}", shown_error(error)]
                add_row(
                    report, panel="L", policy=name, runs=runs, sigma_q=HYPER_STD, sigma_0=TASK_STD,
                    L=size, repeats=repeats, mean=mean, standard_error=error,
                )  # fmt: skip
            rows.append(cells)
        error_bars(plot, SIZES, lines, kind, "L")
        columns = ("L", *(cell for name in COMPARED for cell in (name, "± s.e.")))
        tables.append((f"m = {MANY}, {kind}", columns, rows))
        first, last = (number(*lines["HierTS"][place]) for place in (0, -1))
        found.append(f"in {kind} from {first} to {last}")
    report.frame("tasks_L", labelled(frames))
    report.answer(
        f"From L = {SIZES[0]} to L = {SIZES[-1]} of {MANY} tasks that act at once, the regret of "
        f"HierTS goes {' and '.join(found)}.",
        certainty(runs),
    )
    forced = number(*lines["HierTS-forced"][-1])
    report.figure(
        "concurrency",
        figure,
        f"Final regret against the number of concurrent tasks L, m = {MANY}. The forced start, "
        f"d arms in every task first, ends at {forced} with L = {SIZES[-1]} distinct tasks. "
        + of_errors(runs, "Bars are one standard error."),
    )
    for table in tables:
        report.table(*table)


EXPERIMENT = Experiment("HierTS across schedules, and the price of acting concurrently", run)
