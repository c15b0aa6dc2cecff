"""Widths unknown: the similarity sweep again, by a policy that learns them as it goes."""

from collections.abc import Mapping
from functools import partial

from hierbandits.experiments.experiment import (
    RESULT_COLUMNS,
    Experiment,
    Options,
    StudyRunner,
    add_row,
    paper_problem,
    result_rows,
)
from hierbandits.experiments.findings import certainty, number, of_errors, ratio_interval, spread
from hierbandits.experiments.similarity import HYPER_STD, QUICK, ROUND_SIZE, TASK_STDS
from hierbandits.models.variants import unknown_widths
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.policies.thompson_rule import thompson
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.plots import error_bars
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study

NOISE_KNOWN = "AdaptiveHierTS, noise known"
RECIPES = {
    "HierTS": POLICIES["HierTS"],
    NOISE_KNOWN: Recipe(
        partial(unknown_widths, noise_known=True), thompson, "AdaptiveHierTS told the noise"
    ),
    "AdaptiveHierTS": POLICIES["AdaptiveHierTS"],
    "PooledTS": POLICIES["PooledTS"],
    "TS": POLICIES["TS"],
}


def run(options: Options) -> Report:
    """Final regret against sigma_0 of policies told the widths and of those that learn them."""
    runs = options.num_runs(1000, 100)
    widths = QUICK if options.quick else TASK_STDS
    runner = StudyRunner(options, runs * len(RECIPES) * len(widths))
    report = Report(
        "adaptive",
        "What does it cost not to know the widths?",
        {
            "runs": runs,
            "seed": options.seed,
            "sigma_q": HYPER_STD,
            "sigma_0": widths,
            "L": ROUND_SIZE,
        },
    )
    studies = {
        width: runner.run(paper_problem(HYPER_STD, width), RECIPES, Concurrent(ROUND_SIZE), runs)
        for width in widths
    }
    _compare(report, studies)
    for width, study in studies.items():
        for row in study.summary("HierTS"):
            ratio, error = study.ratio(row["policy"], "HierTS")
            row |= {"sigma_q": HYPER_STD, "sigma_0": width, "L": ROUND_SIZE}
            add_row(report, panel="", **row, ratio=ratio, ratio_error=error)
        report.table(f"sigma_0 = {width:g}", RESULT_COLUMNS, result_rows(study))
        report.frame(f"tasks_{width:g}", study.task_frame())
    return report


def _compare(report: Report, studies: Mapping[float, Study]) -> None:
    """Regret and its ratio to that of HierTS, against sigma_0."""
    widths = list(studies)
    figure, (left, right) = panels(2, height=4.4, width=5.2)
    lines = {name: [study.mean(name) for study in studies.values()] for name in RECIPES}
    error_bars(left, widths, lines, "final regret", "task width $\\sigma_0$", log=True)
    ratios = {
        name: [study.ratio(name, "HierTS") for study in studies.values()]
        for name in RECIPES
        if name != "HierTS"
    }
    error_bars(
        right, widths, ratios, "over that of HierTS told the truth", "task width $\\sigma_0$",
        ylabel="ratio of mean regrets", log=True,
    )  # fmt: skip
    right.axhline(1.0, color="#444444", linewidth=0.8)
    runs = studies[widths[0]].runs
    cost = {w: study.ratio("AdaptiveHierTS", "HierTS") for w, study in studies.items()}
    costs = spread([ratio for ratio, _ in cost.values()])
    report.answer(
        f"AdaptiveHierTS, told neither widths nor noise, has {costs}, the regret of HierTS told "
        "the truth.",
        certainty(runs),
    )
    each = ", ".join(f"{number(*cost[width])} at {width:g}" for width in widths)
    report.figure(
        "adaptive",
        figure,
        f"AdaptiveHierTS over HierTS, by sigma_0: {each}. HierTS, TS and PooledTS are told the "
        "true widths and noise; AdaptiveHierTS is told neither, and its variant is told the noise "
        f"alone. {of_errors(runs, 'Bars are standard errors.')}",
    )
    report.table(
        "Ratio of mean regrets to that of HierTS told the truth"
        + (", with 95 % intervals" if runs > 1 else ""),
        ("sigma_0", *ratios),
        [
            (f"{width:g}", *(ratio_interval(study, name, "HierTS", 3) for name in ratios))
            for width, study in studies.items()
        ],
    )


EXPERIMENT = Experiment("the similarity sweep with the widths unknown: what learning costs", run)
