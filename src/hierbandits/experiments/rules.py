"""Rules on the same belief: which one has the least regret, in worlds of many shapes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.experiments.experiment import Experiment, Options, StudyRunner, add_row
from hierbandits.experiments.rule_comparison import LARGEST_ERROR, Cell, Comparison, Verdict
from hierbandits.experiments.rule_heat_map import heat_maps
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.variants import as_given, unknown_widths
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import Thompson
from hierbandits.policies.ucb_rule import Ucb, ucb_width
from hierbandits.reporting.report import Report
from hierbandits.reporting.rounding import in_percent
from hierbandits.simulation.schedules import Federated, Sequential
from hierbandits.types import Vector

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
MOST = 12  # times as many runs, at the most, of the default against the best other rule


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
    judged = _judged(options, games, comparison.cells, rivals)
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


@dataclass(frozen=True, slots=True)
class Game:
    """So many paired runs in a world, which are looked at after some numbers of interactions."""

    world: World
    horizons: Sequence[int]
    runs: int

    def steps(self, names: Collection[str]) -> int:
        """The runs of all these rules; BY_HORIZON plays once for each horizon."""
        extra = len(self.horizons) - 1 if BY_HORIZON in names else 0
        return self.runs * (len(names) + extra)

    def play(self, runner: StudyRunner, names: Collection[str]) -> list[Cell]:
        """The regret of these rules at each horizon."""
        curves = self._regret(runner, {n: RULES[n] for n in names if n != BY_HORIZON})
        for horizon in self.horizons if BY_HORIZON in names else ():
            told = self._regret(runner, {BY_HORIZON: Ucb(ucb_width(1 / horizon))}, horizon)
            curves.setdefault(BY_HORIZON, {})[horizon] = told[BY_HORIZON][horizon]
        return [
            Cell(str(self.world), h, {name: curve[h] for name, curve in curves.items()})
            for h in self.horizons
        ]

    def _regret(
        self, runner: StudyRunner, rules: Mapping[str, Rule], until: int | None = None
    ) -> dict[str, dict[int, Vector]]:
        """The regret of rules at each horizon up to the last one, (runs,) each."""
        world, last = self.world, until or self.horizons[-1]
        believe = as_given if world.widths_known else unknown_widths
        recipes = {name: Recipe(believe, rule, name) for name, rule in rules.items()}
        schedule = Federated() if world.is_concurrent else Sequential()
        step = 1 if world.is_concurrent else NUM_TASKS  # rounds of an interaction of every task
        study = runner.run(
            world.form.bandit(world.noise_std), recipes, schedule, self.runs,
            num_interactions=last, points=last * step,
        )  # fmt: skip
        at = {h: int(np.searchsorted(study.rounds, h * step)) for h in self.horizons if h <= last}
        return {
            name: {h: outcome.curve[:, place] for h, place in at.items()}
            for name, outcome in study.outcomes.items()
        }


def _judged(
    options: Options, games: Sequence[Game], cells: Sequence[Cell], rivals: Sequence[str]
) -> list[Cell]:
    """The default and its rivals on other seeds, each world so often as its ratios need."""
    again: list[tuple[Game, list[str]]] = []
    pairs = iter(zip(cells, rivals, strict=True))
    for game in games:
        own = [next(pairs) for _ in game.horizons]
        needed = max(cell.runs_needed(USUAL, rival) for cell, rival in own)
        runs = min(max(needed, game.runs), MOST * game.runs)
        again.append((replace(game, runs=runs), list({USUAL: 0} | {r: 0 for _, r in own})))
    other_seeds = replace(options, seed=options.seed + 1)
    runner = StudyRunner(other_seeds, sum(game.steps(names) for game, names in again))
    return [cell for game, names in again for cell in game.play(runner, names)]


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
