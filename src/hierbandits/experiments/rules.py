"""Rules on the same belief: which one has the least regret, in worlds of many shapes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.experiments.experiment import Experiment, Options, StudyRunner, add_row
from hierbandits.experiments.rule_comparison import LARGEST_ERROR, Cell, Comparison
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.variants import as_given, unknown_widths
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import Thompson
from hierbandits.policies.ucb_rule import Ucb, ucb_width
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.schedules import Federated, Sequential

NAMED = ("HierTS", "HierTS-fresh", USUAL, "HierRandUCB", "HierUCB", "HierGreedy")
RULES: dict[str, Rule] = {name: POLICIES[name].rule for name in NAMED} | {
    "fresh, scale 0.7": Thompson(fresh=True, scale=0.7),
    "fresh, scale 0.5": Thompson(fresh=True, scale=0.5),
}
BY_HORIZON = "UCB, delta 1/n"
"""An upper bound that is told the number n of interactions of a task."""

NUM_TASKS, HYPER_STD, TASK_STD = 10, 1.0, 0.3
NOISES = (0.1, 0.5, 2.0)
SHORT, LONG = (20, 100), (1000, 3000)  # horizons that are read from the same runs
FEWER = 3  # times fewer runs where they are long or widths are unknown


@dataclass(frozen=True, slots=True)
class Form:
    """A bandit with so many arms of its own, or with arms of so many features."""

    num_arms: int
    num_features: int | None = None
    is_fresh: bool = False  # whether arms differ from event to event

    def __str__(self) -> str:
        if self.num_features is None:
            return f"{self.num_arms} arms"
        return f"d = {self.num_features}, {'fresh' if self.is_fresh else 'fixed'}"

    def bandit(self, noise_std: float) -> HierarchicalBandit:
        """The world of this form."""
        armed = self.num_features is None
        form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
        prior = form(
            self.num_features or self.num_arms,
            hyper_std=HYPER_STD,
            task_std=TASK_STD,
            noise_std=noise_std,
        )
        actions = ActionSets(self.num_arms, per="round" if self.is_fresh else "run")
        return HierarchicalBandit(
            hierarchy=prior, num_tasks=NUM_TASKS, actions=None if armed else actions
        )


FORMS = (Form(5), Form(10), Form(10, 2), Form(10, 2, True), Form(20, 5), Form(20, 5, True))
QUICK = (FORMS[0], FORMS[2])


@dataclass(frozen=True, slots=True)
class World:
    """A form, its noise, who acts in a round, and whether policies are told the widths."""

    form: Form
    noise_std: float
    is_concurrent: bool  # all tasks act in a round; else one of them
    widths_known: bool = True

    def __str__(self) -> str:
        size = "all" if self.is_concurrent else "1"
        known = "" if self.widths_known else ", widths unknown"
        return f"{self.form}, L = {size}, noise {self.noise_std:g}{known}"


def all_worlds(forms: Sequence[Form]) -> list[World]:
    """Every form, number of tasks in a round and noise, with known widths."""
    return [World(*parts) for parts in product(forms, NOISES, (False, True))]


def some_worlds(forms: Sequence[Form], *, widths_known: bool) -> list[World]:
    """Every form and number of tasks in a round, each with one of the noises in turn."""
    pairs = product(forms, (False, True))
    return [
        World(form, NOISES[(i + i // 6) % len(NOISES)], concurrent, widths_known)
        for i, (form, concurrent) in enumerate(pairs)
    ]


def run(options: Options) -> Report:
    """Regret of every rule over that of HierTS, in all worlds and at all horizons."""
    runs = options.num_runs(160, 16)
    fewer = max(4, runs // FEWER)
    forms, short = (QUICK, SHORT[:1]) if options.quick else (FORMS, SHORT)
    parts = [(all_worlds(forms), short, runs)]
    if not options.quick:
        parts.append((some_worlds(forms, widths_known=True), LONG, fewer))
    unknown = forms[:1] if options.quick else forms
    parts.append((some_worlds(unknown, widths_known=False), short, fewer))
    rules = len(RULES)
    total = sum(len(w) * number * (rules + len(horizons)) for w, horizons, number in parts)
    runner = StudyRunner(options, total)
    report = Report(
        "rules",
        "Which rule? Upper bounds, Thompson sampling and information on the same belief",
        {"runs": runs, "runs_elsewhere": fewer, "seed": options.seed, "m": NUM_TASKS}
        | {"sigma_q": HYPER_STD, "sigma_0": TASK_STD, "sigma": NOISES, "n": [*SHORT, *LONG]},
    )
    cells = [
        cell
        for worlds, horizons, number in parts
        for world in worlds
        for cell in _cells(runner, world, horizons, number)
    ]
    comparison = Comparison(cells)
    _report_on(report, comparison)
    report.frame("regret", comparison.frame())
    for cell in cells:
        for name in cell.regret:
            ratio, error = cell.ratio(name, "HierTS")
            mean, own_error = cell.mean(name)
            add_row(
                report, panel=cell.world, policy=name, runs=cell.runs, n=cell.horizon,
                mean=mean, standard_error=own_error, ratio=ratio, ratio_error=error,
            )  # fmt: skip
    return report


def _cells(runner: StudyRunner, world: World, horizons: Sequence[int], runs: int) -> list[Cell]:
    """The regret of all rules in a world, at each horizon; paired."""
    believe = as_given if world.widths_known else unknown_widths
    bandit = world.form.bandit(world.noise_std)
    schedule = Federated() if world.is_concurrent else Sequential()
    step = 1 if world.is_concurrent else NUM_TASKS  # rounds of an interaction of every task
    last = horizons[-1]

    def regret(rules: Mapping[str, Rule], until: int) -> dict[str, dict[int, np.ndarray]]:
        recipes = {name: Recipe(believe, rule, name) for name, rule in rules.items()}
        study = runner.run(
            bandit, recipes, schedule, runs, num_interactions=until, points=until * step
        )
        at = {h: int(np.searchsorted(study.rounds, h * step)) for h in horizons if h <= until}
        return {
            name: {h: outcome.curve[:, place] for h, place in at.items()}
            for name, outcome in study.outcomes.items()
        }

    curves = regret(RULES, last)
    for horizon in horizons:
        told = regret({BY_HORIZON: Ucb(ucb_width(1 / horizon))}, horizon)[BY_HORIZON]
        curves.setdefault(BY_HORIZON, {})[horizon] = told[horizon]
    return [
        Cell(str(world), h, {name: curve[h] for name, curve in curves.items()}) for h in horizons
    ]


def _report_on(report: Report, comparison: Comparison) -> None:
    """The verdict in words, a heat map, and tables."""
    verdicts = comparison.verdicts(USUAL)
    near = [verdict for verdict in verdicts if verdict.is_near]
    others = [verdict for verdict in verdicts if verdict.best != USUAL]
    exact = [verdict for verdict in others if verdict.error <= LARGEST_ERROR]
    report.text(
        f"{USUAL} is within 10 % of the best rule in {len(near)} of {len(verdicts)} worlds and "
        f"horizons ({len(near) / len(verdicts):.0%}). The best rule of each is picked on one half "
        "of the seeds, among those that nowhere have more than twice HierTS's regret, and compared "
        f"on the other half. In {len(verdicts) - len(others)} of them {USUAL} is itself picked, "
        f"which is no comparison. Of the other {len(others)} it is near the best in "
        f"{sum(verdict.is_near for verdict in others)}, and only {len(exact)} have a standard "
        f"error of at most {LARGEST_ERROR:.0%}.",
        "More than twice HierTS's regret somewhere: "
        + (", ".join(comparison.excluded) or "none")
        + ".",
    )
    names = comparison.names
    horizons = sorted({cell.horizon for cell in comparison.cells})
    figure, axes = panels(len(horizons), height=3.4, width=13.0, columns=1)
    for axis, horizon in zip(axes, horizons, strict=True):
        cells = [cell for cell in comparison.cells if cell.horizon == horizon]
        table = np.array([[cell.ratio(name, "HierTS")[0] for cell in cells] for name in names])
        shade = np.log2(np.clip(table, 0.25, 4.0))
        image = axis.imshow(shade, cmap="RdBu_r", vmin=-1.5, vmax=1.5, aspect="auto")
        axis.grid(visible=False)
        axis.set_title(f"n = {horizon:,}", fontsize=10)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        labels = [cell.world for cell in cells]
        axis.set_xticks(range(len(cells)), labels, rotation=90, fontsize=6)
        for row, column in np.ndindex(table.shape):
            axis.text(
                column, row, f"{table[row, column]:.2f}".lstrip("0"), ha="center", va="center",
                fontsize=5, color="white" if abs(shade[row, column]) > 1 else "black",
            )  # fmt: skip
        bar = figure.colorbar(image, ax=axis, pad=0.01)
        bar.set_ticks([-1, 0, 1], labels=["half", "HierTS", "twice"])
    report.figure(
        "rules",
        figure,
        "Regret of each rule over that of HierTS, world by world. Blue is less, red is more.",
    )
    report.table(
        "Regret over HierTS's over all worlds, and how often it is within 10 % of the best rule's",
        ("rule", "mean", "least", "most", "within 10 %"),
        [
            (
                name,
                *(f"{value:.2f}" for value in comparison.spread(name)),
                f"{np.mean([verdict.is_near for verdict in comparison.verdicts(name)]):.0%}",
            )
            for name in names
        ],
    )
    report.table(
        f"{USUAL} in each world",
        ("world", "n", "runs", "over HierTS's", "best rule", "over the best's", "± s.e."),
        [
            (
                cell.world,
                f"{cell.horizon:,}",
                f"{cell.runs}",
                f"{cell.ratio(USUAL, 'HierTS')[0]:.2f}",
                verdict.best,
                f"{verdict.ratio:.2f}",
                f"{verdict.error:.2f}",
            )
            for cell, verdict in zip(comparison.cells, verdicts, strict=True)
        ],
    )


EXPERIMENT = Experiment("rules on the same belief, in worlds of many shapes: which one when", run)
