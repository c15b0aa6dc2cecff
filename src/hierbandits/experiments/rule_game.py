"""Rules on the same belief that play in a world: its form, its noise and who acts in a round."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd

import numpy as np

from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.experiments.experiment import StudyRunner
from hierbandits.experiments.rule_comparison import Cell
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.variants import as_given, unknown_widths
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import Thompson
from hierbandits.policies.ucb_rule import Ucb, ucb_width
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
            num_interactions=last, points=last * step // self._stride(step),
        )  # fmt: skip
        at = {h: int(np.searchsorted(study.rounds, h * step)) for h in self.horizons if h <= last}
        return {
            name: {h: outcome.curve[:, place] for h, place in at.items()}
            for name, outcome in study.outcomes.items()
        }

    def _stride(self, step: int) -> int:
        """A power of two that divides the rounds of all horizons: curves are thinned by halves."""
        common = gcd(*(horizon * step for horizon in self.horizons))
        return common & -common
