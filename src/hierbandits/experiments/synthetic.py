"""The paper's synthetic experiment, its figure (a), (b) and (c).  [HBB, Section Experiments]"""

from collections.abc import Mapping

import numpy as np

from hierbandits import bounds
from hierbandits.environments import HierarchicalBandit
from hierbandits.experiments.experiment import (
    RESULT_COLUMNS,
    Experiment,
    Options,
    StudyRunner,
    add_row,
    add_rows,
    labelled,
    paper_problem,
    result_rows,
)
from hierbandits.experiments.findings import certainty, compared, number, of_errors, totals
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import shown_error
from hierbandits.simulation.chunk import ChunkSeeds
from hierbandits.simulation.plots import error_bars, regret_curves
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study, mean_and_error

COMPARED = ("HierTS", "TS", "OracleTS", "PooledTS", "HierUCB")
HYPER_STDS = {"a": 0.5, "b": 1.0}  # sigma_q of each panel
TASK_STD, INTERACTIONS, ROUND_SIZE, TASKS = 0.1, 200, 5, 10
ROUND_SIZES = (1, 2, 5, 10)  # L in panel c


def run(options: Options) -> Report:
    """Regret against rounds for two widths of the hyper-prior, and against L."""
    runs = options.num_runs(1000, 100)
    policies, own_size = options.compared(COMPARED), options.round_size(ROUND_SIZE)
    num_tasks = options.num_tasks(TASKS)
    round_sizes = sorted({own_size, *(size for size in ROUND_SIZES if size <= num_tasks)})
    others = len(round_sizes) - 1
    runner = StudyRunner(options, runs * len(HYPER_STDS) * (len(policies) + others))
    report = Report(
        "synthetic",
        "Synthetic bandits: HierTS against its baselines",
        {"runs": runs, "seed": options.seed, "d": 2, "arms": 10, "m": num_tasks}
        | {"n": INTERACTIONS}
        | {
            "sigma": 0.5,
            "sigma_0": TASK_STD,
            "sigma_q": list(HYPER_STDS.values()),
            "L": round_sizes,
        },
    )
    studies = {}
    by_size: dict[float, dict[int, Study]] = {}
    for panel, width in HYPER_STDS.items():
        problem = paper_problem(width, TASK_STD, num_tasks)
        study = runner.run(problem, policies, Concurrent(own_size), runs)
        studies[panel] = study
        by_size[width] = {
            size: study if size == own_size
            else runner.run(problem, ["HierTS"], Concurrent(size), runs)
            for size in round_sizes
        }  # fmt: skip
    _draw(report, studies, by_size)
    report.text(
        f"{num_tasks} tasks of two features and ten arms have {INTERACTIONS} interactions each, in "
        f"rounds of {own_size}. Tasks differ by sigma_0 = {TASK_STD} around a mean of width "
        f"sigma_q. There are {runs} runs. Every policy meets the same worlds and the same luck, so "
        "that differences are paired. PooledTS takes all tasks for one, and HierUCB uses the "
        "hierarchy's upper bounds."
    )
    limits = {
        width: {
            size: average_bounds(paper_problem(width, TASK_STD, num_tasks), size, options.seed)
            for size in round_sizes
        }
        for width in HYPER_STDS.values()
    }
    for panel, width in HYPER_STDS.items():
        limit = limits[width][own_size]
        labels = {"sigma_q": width, "sigma_0": TASK_STD, "L": own_size}
        add_rows(report, studies[panel], panel, **labels, **limit)
        report.table(
            f"({panel}) sigma_q = {width}: final regret over all tasks; the theorem's bound, which "
            f"is for HierTS-forced and distinct tasks, is {limit['bound']:.0f}, with the paper's "
            f"constants {limit['bound_paper']:.0f}",
            RESULT_COLUMNS,
            result_rows(studies[panel]),
        )
    for width, sizes in by_size.items():
        _table_of_sizes(report, width, sizes, limits[width])
    for panel, study in studies.items():
        report.frame(f"curves_{panel}", study.frame())
    report.frame(
        "tasks_c",
        labelled(
            (study.task_frame().filter(policy="HierTS"), {"sigma_q": width, "L": size})
            for width, sizes in by_size.items()
            for size, study in sizes.items()
        ),
    )
    return report


def average_bounds(problem: HierarchicalBandit, size: int, seed: int) -> dict[str, float]:
    """The concurrent theorem's bound, averaged over 100 random action sets.

    Each set has its own eta, and the theorem holds for each.  `bound` has the repaired constants,
    `bound_paper` the paper's.
    """
    worlds = problem.worlds(ChunkSeeds(seed, 0).worlds(), seed, 0, 100)
    assert problem.actions is not None
    assert worlds.sets is not None
    max_norm = problem.actions.max_norm(problem.prior.dim)
    etas = [SpanningArms.of(arms).eta for arms in worlds.sets]

    def mean(constants: str) -> float:
        values = [
            bounds.concurrent(
                problem.hierarchy, problem.num_tasks, INTERACTIONS, size,
                eta=eta, constants=constants, max_norm=max_norm,
            ).total
            for eta in etas
        ]  # fmt: skip
        return float(np.mean(values))

    return {"bound": mean("repaired"), "bound_paper": mean("paper")}


def _draw(
    report: Report, studies: Mapping[str, Study], by_size: Mapping[float, Mapping[int, Study]]
) -> None:
    figure, (left, middle, right) = panels(3)
    for axes, (panel, width) in zip((left, middle), HYPER_STDS.items(), strict=True):
        regret_curves(axes, studies[panel], f"({panel}) $\\sigma_q$ = {width}")
    lines = {
        f"HierTS, $\\sigma_q$ = {width}": [study.mean("HierTS") for study in sizes.values()]
        for width, sizes in by_size.items()
    }
    round_sizes = list(next(iter(by_size.values())))
    error_bars(right, round_sizes, lines, "(c) concurrent tasks", "L")
    runs, num_tasks = studies["a"].runs, studies["a"].outcomes["HierTS"].per_task.shape[1]
    known = studies["a"].outcomes
    rival = next((name for name in ("TS", *known) if name in known and name != "HierTS"), "HierTS")
    found = [
        f"with sigma_q = {width}, {compared(studies[panel], 'HierTS', rival)}"
        for panel, width in HYPER_STDS.items()
    ]
    report.answer(f"In {num_tasks} similar tasks, {'; '.join(found)}.", certainty(runs))
    ends = [
        f"({panel}) for sigma_q = {width}, {totals(studies[panel], studies[panel].outcomes)}"
        for panel, width in HYPER_STDS.items()
    ]
    first, last = round_sizes[0], round_sizes[-1]
    grown = [
        f"from {number(*sizes[first].mean('HierTS'))} to {number(*sizes[last].mean('HierTS'))} "
        f"for sigma_q = {width}"
        for width, sizes in by_size.items()
    ]
    report.figure(
        "synthetic",
        figure,
        f"Bayes regret over all tasks, at the end {'; '.join(ends)}; (c) of HierTS from L = "
        f"{first} to L = {last} concurrent tasks, {' and '.join(grown)}. "
        + of_errors(runs, "Bands and bars are one standard error."),
    )


def _table_of_sizes(
    report: Report,
    width: float,
    sizes: Mapping[int, Study],
    limits: Mapping[int, Mapping[str, float]],
) -> None:
    rows = []
    smallest = sizes[min(sizes)].outcomes["HierTS"].total
    for size, study in sizes.items():
        mean, error = study.mean("HierTS")
        gap, gap_error = mean_and_error(study.outcomes["HierTS"].total - smallest)
        add_row(
            report, panel="c", policy="HierTS", runs=study.runs, sigma_q=width, sigma_0=TASK_STD,
            L=size, mean=mean, standard_error=error, **limits[size],
        )  # fmt: skip
        cells = [f"{mean:.2f}", shown_error(error), f"{gap:+.2f}", shown_error(gap_error)]
        rows.append([str(size), *cells, *(f"{bound:.0f}" for bound in limits[size].values())])
    columns = ("L", "regret", "± s.e.", "minus L = 1", "± s.e. (paired)", "bound", "paper's bound")
    report.table(
        f"(c) HierTS at sigma_q = {width}, against L; bounds are for HierTS-forced, distinct tasks",
        columns,
        rows,
    )


EXPERIMENT = Experiment(
    "the paper's figure: HierTS, TS and OracleTS, and the price of L",
    run,
    ("tasks", "concurrent", "policies"),
)
