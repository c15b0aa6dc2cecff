"""HierTS across the paper's settings: one task at a time, in batches, all at once."""

from hierbandits.experiments.experiment import (
    Experiment,
    Options,
    Studies,
    labelled,
    paper_problem,
)
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.plots import error_bars
from hierbandits.simulation.schedules import (
    Arriving,
    Concurrent,
    Federated,
    MetaLearning,
    MultiTask,
    Schedule,
    Sequential,
)

HYPER_STD, TASK_STD = 1.0, 0.1
SETTINGS: dict[str, Schedule] = {
    "sequential, in turn": Sequential(),
    "meta-learning": MetaLearning(),
    "multi-task": MultiTask(),
    "concurrent, L = 5": Concurrent(5),
    "concurrent, L = 5, distinct": Concurrent(5, repeats=False),
    "federated": Federated(),
    "arriving": Arriving(20),
}
SIZES = (1, 2, 5, 10, 20)
MANY = 20  # tasks, for the sweep over L
POLICIES = ("HierTS", "HierTS-forced")


def run(options: Options) -> Report:
    """Regret in every setting with the same interactions, and the price of L."""
    runs = options.num_runs(1000, 100)
    sweeps = len(SIZES) * len(POLICIES) * 2
    suite = Studies(options, runs * (len(SETTINGS) + sweeps))
    report = Report(
        "concurrency",
        "When tasks act together: HierTS across schedules, and the price of L",
        {"runs": runs, "seed": options.seed, "sigma_q": HYPER_STD, "sigma_0": TASK_STD}
        | {"schedules": list(SETTINGS), "L": SIZES, "tasks in the sweep": MANY},
    )
    report.text(
        f"Every task has 200 interactions in every setting; {runs} runs of the same worlds. A "
        "round's rewards are learned at its end, so that acting in many tasks at once delays "
        "what they teach each other."
    )
    rows = []
    frames = []
    for name, schedule in SETTINGS.items():
        study = suite.run(paper_problem(HYPER_STD, TASK_STD), ["HierTS"], schedule, runs)
        mean, error = study.mean("HierTS")
        size = {"concurrent": 5, "federated": 10}.get(name.split(",")[0])
        report.row(
            panel="schedules", policy="HierTS", runs=runs, sigma_q=HYPER_STD, sigma_0=TASK_STD,
            L=size, schedule=name, mean=mean, standard_error=error,
        )  # fmt: skip
        rows.append([name, str(study.rounds[-1]), f"{mean:.2f}", f"{error:.2f}"])
        frames.append((study.task_frame(), {"schedule": name}))
    report.frame("tasks_schedules", labelled(frames))
    report.table("HierTS in each setting, m = 10", ("setting", "rounds", "regret", "± s.e."), rows)
    _sweep(report, suite, runs)
    return report


def _sweep(report: Report, suite: Studies, runs: int) -> None:
    problem = paper_problem(HYPER_STD, TASK_STD, num_tasks=MANY)
    figure, axes = panels(2)
    frames = []
    for plot, repeats in zip(axes, (True, False), strict=True):
        kind = "the paper's batches" if repeats else "distinct tasks in a batch"
        lines: dict[str, list[tuple[float, float]]] = {name: [] for name in POLICIES}
        rows = []
        for size in SIZES:
            study = suite.run(problem, POLICIES, Concurrent(size, repeats=repeats), runs)
            frames.append((study.task_frame(), {"L": size, "repeats": repeats}))
            cells = [str(size)]
            for name in POLICIES:
                mean, error = study.mean(name)
                lines[name].append((mean, error))
                cells += [f"{mean:.2f}", f"{error:.2f}"]
                report.row(
                    panel="L", policy=name, runs=runs, sigma_q=HYPER_STD, sigma_0=TASK_STD,
                    L=size, repeats=repeats, mean=mean, standard_error=error,
                )  # fmt: skip
            rows.append(cells)
        error_bars(plot, SIZES, lines, kind, "L")
        columns = ("L", *(cell for name in POLICIES for cell in (name, "± s.e.")))
        report.table(f"m = {MANY}, {kind}", columns, rows)
    report.frame("tasks_L", labelled(frames))
    report.figure(
        "concurrency",
        figure,
        f"Final regret against the number of concurrent tasks L, m = {MANY}: it grows, less than "
        "in proportion. The forced start costs what its d arms in every task cost.",
    )


EXPERIMENT = Experiment("HierTS across schedules, and the price of acting concurrently", run)
