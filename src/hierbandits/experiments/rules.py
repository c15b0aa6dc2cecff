"""Rules on the same belief: which one has the least regret, in worlds of many shapes."""

from collections.abc import Sequence

import numpy as np

from hierbandits.experiments.experiment import Experiment, Options, StudyRunner, add_row
from hierbandits.experiments.rule_comparison import LARGEST_ERROR, Cell, Comparison, Verdict
from hierbandits.experiments.rule_duel import Duel, judge
from hierbandits.experiments.rule_game import (
    BY_HORIZON,
    FORMS,
    HYPER_STD,
    LONG,
    NOISES,
    NUM_TASKS,
    QUICK,
    RULES,
    SHORT,
    TASK_STD,
    Game,
    all_worlds,
    some_worlds,
)
from hierbandits.experiments.rule_heat_map import heat_maps
from hierbandits.policies.recipes import USUAL
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import in_percent

FEWER = 3  # times fewer runs where they are long or widths are unknown
MOST = 60  # times as many runs, at the most, of the default against the best other rule
MOST_QUICK = 12  # the same in a quick look


def run(options: Options) -> Report:
    """Regret of every rule over that of HierTS, in all worlds and at all horizons.

    First all rules play.  Then the default plays again, on other seeds, against the best of the
    others in each world, until the ratio of the two is known well enough.
    """
    runs = options.num_runs(160, 16)
    if runs < 2:
        raise ValueError(
            f"runs must be at least 2: rules are picked and judged on halves, got {runs}"
        )
    fewer = max(4, runs // FEWER)
    forms, short = (QUICK, SHORT[:1]) if options.quick else (FORMS, SHORT)
    games = [Game(world, short, runs) for world in all_worlds(forms)]
    if not options.quick:
        games += [Game(w, LONG, fewer) for w in some_worlds(forms, widths_known=True)]
    unknown = forms[:1] if options.quick else forms
    games += [Game(world, short, fewer) for world in some_worlds(unknown, widths_known=False)]
    names = [*RULES, BY_HORIZON]
    runner = StudyRunner(options, sum(game.steps(names) for game in games))
    report = Report(
        "rules",
        "Which rule? Upper bounds, Thompson sampling and information on the same belief",
        {"runs": runs, "runs_elsewhere": fewer, "seed": options.seed, "m": NUM_TASKS}
        | {"sigma_q": HYPER_STD, "sigma_0": TASK_STD, "sigma": NOISES, "n": [*SHORT, *LONG]},
    )
    comparison = Comparison([cell for game in games for cell in game.play(runner, names)])
    rivals = comparison.rivals(USUAL)
    most = MOST_QUICK if options.quick else MOST
    pairs = iter(zip(comparison.cells, rivals, strict=True))
    duels = [Duel.of(game, [next(pairs) for _ in game.horizons], most) for game in games]
    judged = judge(options, duels)
    verdicts = [Verdict(r, *cell.ratio(USUAL, r)) for r, cell in zip(rivals, judged, strict=True)]
    _report_on(report, comparison, judged, verdicts)
    report.frame("regret", comparison.frame())
    report.frame("judged", Comparison(judged).frame())
    for cell in comparison.cells:
        for name in cell.regret:
            ratio, error = cell.ratio(name, "HierTS")
            mean, own_error = cell.mean(name)
            add_row(
                report, panel=cell.world, policy=name, runs=cell.runs, n=cell.horizon,
                mean=mean, standard_error=own_error, ratio=ratio, ratio_error=error,
            )  # fmt: skip
    return report


def _report_on(
    report: Report, comparison: Comparison, judged: Sequence[Cell], verdicts: Sequence[Verdict]
) -> None:
    """The verdict in words, a heat map, and tables."""
    near = [verdict for verdict in verdicts if verdict.is_near]
    exact = [verdict for verdict in verdicts if verdict.error <= LARGEST_ERROR]
    errors = [verdict.error for verdict in verdicts]
    report.answer(
        f"{USUAL} is within 10 % of the best other rule in {len(near)} of {len(verdicts)} worlds "
        f"and horizons ({in_percent(len(near) / len(verdicts))}).",
        f"The ratio to that rule has a standard error of at most {in_percent(LARGEST_ERROR)} in "
        f"{len(exact)} of {len(verdicts)}"
        + (f"; of those, {sum(v.is_near for v in exact)} are within 10 %." if exact else "."),
    )
    low, high = comparison.spread(USUAL)[1:]
    caption = (
        f"Regret of each rule over that of HierTS, world by world. Over all horizons {USUAL} has "
        f"from {low:.2f} to {high:.2f} times as much. Blue is less, red is more."
    )
    maps = heat_maps(comparison.cells)  # of the short horizons, then of the long ones
    for name, figure in zip(("rules", "rules_long"), maps.values(), strict=False):
        report.figure(name, figure, caption)
    report.text(
        "The best other rule of each world is picked on the seeds of the heat map, among those "
        f"that nowhere have more than twice HierTS's regret. Then {USUAL} and that rule play "
        f"again, on other seeds. The middle standard error of the ratio of the two is "
        f"{in_percent(float(np.median(errors)))} and the largest {in_percent(max(errors))}.",
        "More than twice HierTS's regret somewhere: "
        + (", ".join(comparison.excluded) or "none")
        + ".",
    )
    report.table(
        "Regret over HierTS's over all worlds, and how often it is within 10 % of the best rule's",
        ("rule", "mean", "least", "most", "within 10 %"),
        [
            (
                name,
                *(f"{value:.2f}" for value in comparison.spread(name)),
                in_percent(
                    float(np.mean([verdict.is_near for verdict in comparison.verdicts(name)]))
                ),
            )
            for name in comparison.names
        ],
    )
    report.table(
        f"{USUAL} in each world",
        ("world", "n", "over HierTS's", "best other", "over that", "± s.e.", "runs"),
        [
            (
                cell.world,
                f"{cell.horizon:,}",
                f"{cell.ratio(USUAL, 'HierTS')[0]:.2f}",
                verdict.best,
                f"{verdict.ratio:.2f}",
                f"{verdict.error:.3f}",
                f"{again.runs:,}",
            )
            for cell, verdict, again in zip(comparison.cells, verdicts, judged, strict=True)
        ],
    )


EXPERIMENT = Experiment("rules on the same belief, in worlds of many shapes: which one when", run)
