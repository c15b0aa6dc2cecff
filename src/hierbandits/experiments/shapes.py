"""Widths of any shape: what it costs to learn them while acting, from world to world."""

from dataclasses import dataclass

import numpy as np

from hierbandits.environments import ActionSets, HierarchicalBandit, SampledActions
from hierbandits.experiments.experiment import (
    Experiment,
    Options,
    StudyRunner,
    add_row,
    labelled,
)
from hierbandits.experiments.findings import (
    certainty,
    number,
    of_errors,
    ratio_interval,
    spread,
    student,
)
from hierbandits.experiments.full_bayes import FULL_BAYES
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.recipes import POLICIES
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.line_styles import line_style
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study
from hierbandits.types import Matrix

COMPARED = ("HierTS", "AdaptiveHierTS", "PooledTS", "TS")
NUM_INTERACTIONS, ROUND_SIZE = 100, 5
_NOISE = 0.5
TICKS = (0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A world: how its tasks differ, and what its rewards are like."""

    name: str
    task_cov: Matrix
    armed: bool
    noise_std: float = _NOISE
    num_tasks: int = 20
    num_arms: int = 15
    offset: float | None = None  # the mean of all features but the first, which is one
    hard: bool = False  # whether full-Bayes Thompson sampling plays too, which is slow

    def world(self) -> HierarchicalBandit:
        """The environment, with sigma_q = 1; with an offset, in terms of centred features."""
        dim = len(self.task_cov)
        raw = np.eye(dim)
        actions: ActionSets | SampledActions | None = None
        if not self.armed:
            actions = ActionSets(self.num_arms)
        if self.offset is not None:
            raw[0, 1:] = -self.offset  # the raw parameters of the centred ones
            table = np.random.default_rng(0).uniform(-0.5, 0.5, (1000, dim)) + self.offset
            table[:, 0] = 1.0
            actions = SampledActions(table, self.num_arms, per="run")
        prior = GaussianHierarchy.of_levels(
            hyper_mean=np.zeros(dim),
            covs=[raw @ raw.T, raw @ self.task_cov @ raw.T],
            noise_std=self.noise_std,
            armed=self.armed,
        )
        return HierarchicalBandit(hierarchy=prior, num_tasks=self.num_tasks, actions=actions)


def _diagonal(*widths: float) -> Matrix:
    return np.diag(np.square(widths))


def _common(dim: int, common: float, own: float) -> Matrix:
    cov: Matrix = common**2 + own**2 * np.eye(dim)
    return cov


def _one_factor(own: float, *loads: float) -> Matrix:
    cov: Matrix = np.outer(loads, loads) + own**2 * np.eye(len(loads))
    return cov


def _in_groups(number: int, size: int, common: float, own: float) -> Matrix:
    cov: Matrix = np.kron(np.eye(number), _common(size, common, own))
    return cov


_LINE = np.array([1.0, 0.5, -0.8, 0.3])
_SIGNED = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0, -0.2, -0.4, -0.6, -0.8)
_WIDE = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.3], [0.0, 0.3, 0.5]])

SHAPES = (
    *(Shape(f"4 features, {w:g}", _diagonal(*[w] * 4), False) for w in (0.02, 0.1, 0.5, 1.0)),
    *(Shape(f"10 arms, {w:g}", _diagonal(*[w] * 10), True) for w in (0.1, 0.3)),
    Shape("10 arms, 1", _diagonal(*[1.0] * 10), True, hard=True),
    Shape("3 features, noise 0.05", _diagonal(*[0.3] * 3), False, 0.05),
    Shape("5 arms, noise 0.05", _diagonal(*[0.3] * 5), True, 0.05, hard=True),
    Shape("3 features, noise 5", _diagonal(*[0.5] * 3), False, 5.0),
    Shape("5 arms, noise 5", _diagonal(*[0.5] * 5), True, 5.0),
    Shape("one feature of four varies", _diagonal(1.0, 1e-3, 1e-3, 1e-3), False, hard=True),
    Shape("widths 0.05, 0.1, 0.3, 1", _diagonal(0.05, 0.1, 0.3, 1.0), False),
    Shape("4 features on a line", np.outer(_LINE, _LINE) + 1e-8 * np.eye(4), False, hard=True),
    *(
        Shape(f"a constant and 3 features of mean {m:g}", _diagonal(*[0.3] * 4), False, offset=m)
        for m in (0.0, 3.0, 10.0, 30.0)
    ),
    Shape("two arms of ten vary", _diagonal(1.0, 1.0, *[1e-3] * 8), True, hard=True),
    Shape("10 arms, common 0.3, own 0.2", _common(10, 0.3, 0.2), True),
    Shape("10 arms, common 1, own 0.2", _common(10, 1.0, 0.2), True),
    Shape("10 arms, common 1, own 0.05", _common(10, 1.0, 0.05), True),
    Shape("6 arms, up or down", _one_factor(0.1, *[0.7, -0.7] * 3), True, num_tasks=30),
    Shape("10 arms, 1 to -0.8", _one_factor(0.01, *_SIGNED), True, num_tasks=30, hard=True),
    Shape("10 arms, 0.1 to 1", _one_factor(0.01, *np.linspace(0.1, 1, 10)), True, num_tasks=30),
    Shape("8 arms, two groups", _in_groups(2, 4, 0.5, 0.15), True, num_tasks=30),
)
"""The worlds that the design was tried on."""

ASIDE = (
    Shape("6 features, 0.3, 50 tasks", _diagonal(*[0.3] * 6), False, num_tasks=50),
    Shape("3 correlated features, noise 1", _WIDE, False, 1.0, num_tasks=30, num_arms=12),
    Shape("8 features, three vary", _diagonal(*[0.8] * 3, *[0.01] * 5), False, num_arms=20),
    Shape("3 arms, 0.2, noise 1", _diagonal(*[0.2] * 3), True, 1.0, num_tasks=40),
    Shape("20 arms, 0.05 to 0.6", _diagonal(*np.geomspace(0.05, 0.6, 20)), True, num_tasks=30),
    Shape("6 arms, two groups", _in_groups(2, 3, 0.5, 0.1), True, num_tasks=30),
    Shape("9 arms, three groups", _in_groups(3, 3, 0.5, 0.1), True, num_tasks=30),
    Shape("5 arms, one against the others", _one_factor(0.2, 0.8, *[-0.4] * 4), True, num_tasks=30),
    Shape("100 arms, common 1, own 0.2", _common(100, 1.0, 0.2), True, num_tasks=30),
)
"""Worlds that were kept aside, and looked at once the design was fixed."""

QUICK = (SHAPES[1], SHAPES[5], SHAPES[11], SHAPES[18])

FEWER = 4
"""So many times fewer runs of full-Bayes Thompson sampling."""

REFERENCE = "full Bayes"


def run(options: Options) -> Report:
    """Final regrets over that of HierTS told the truth."""
    runs = options.num_runs(500, 40)
    shapes = QUICK if options.quick else (*SHAPES, *ASIDE)
    fewer = max(4, runs // FEWER)
    hard = [shape for shape in shapes if shape.hard]
    runner = StudyRunner(options, runs * len(COMPARED) * len(shapes) + 2 * fewer * len(hard))
    report = Report(
        "shapes",
        "What does it cost not to know widths of any shape?",
        {"runs": runs, "seed": options.seed, "n": NUM_INTERACTIONS, "L": ROUND_SIZE},
    )
    schedule = Concurrent(ROUND_SIZE, repeats=False)
    studies = {
        shape: runner.run(
            shape.world(), COMPARED, schedule, runs, num_interactions=NUM_INTERACTIONS
        )
        for shape in shapes
    }
    slow = {"HierTS": POLICIES["HierTS"], REFERENCE: FULL_BAYES}
    references = {
        shape: runner.run(shape.world(), slow, schedule, fewer, num_interactions=NUM_INTERACTIONS)
        for shape in hard
    }
    _draw(report, studies)
    report.table(
        "Ratio of mean regrets to that of HierTS told the truth"
        + (", with 95 % intervals" if runs > 1 else ""),
        ("world", "", "regret of HierTS", *COMPARED[1:], REFERENCE),
        [
            (
                shape.name,
                "aside" if shape in ASIDE else "",
                f"{study.mean('HierTS')[0]:.1f}",
                *(ratio_interval(study, name, "HierTS") for name in COMPARED[1:]),
                ratio_interval(references[shape], REFERENCE, "HierTS") if shape.hard else "",
            )
            for shape, study in studies.items()
        ],
    )
    for shape, study in [*studies.items(), *references.items()]:
        for row in study.summary("HierTS"):
            if study is studies[shape] or row["policy"] == REFERENCE:
                ratio, error = study.ratio(row["policy"], "HierTS")
                extra = {"sigma_q": 1.0, "L": ROUND_SIZE, "ratio": ratio, "ratio_error": error}
                add_row(report, panel=shape.name, **row | extra)
    frames = ((study.task_frame(), {"world": shape.name}) for shape, study in studies.items())
    report.frame("tasks", labelled(frames))
    return report


def _draw(report: Report, studies: dict[Shape, Study]) -> None:
    """A row for each world, with the ratios of all policies."""
    figure, (axes,) = panels(1, height=0.32 * len(studies) + 1.4, width=9.0)
    places, runs = np.arange(len(studies)), next(iter(studies.values())).runs
    for name in COMPARED[1:]:
        pairs = np.array([study.ratio(name, "HierTS") for study in studies.values()])
        axes.errorbar(
            pairs[:, 0], places, xerr=student(runs) * pairs[:, 1], fmt="o", ms=4,
            color=line_style(name)[0], label=name, elinewidth=1,
        )  # fmt: skip
    axes.axvline(1.0, color="#444444", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_xticks([], minor=True)
    axes.set_yticks(places, [shape.name for shape in studies])
    axes.invert_yaxis()
    axes.set_xlabel("ratio of mean regrets to HierTS told the truth")
    axes.legend(loc="lower right")
    cost = {shape.name: s.ratio("AdaptiveHierTS", "HierTS") for shape, s in studies.items()}
    ratios = [ratio for ratio, _ in cost.values()]
    report.answer(
        f"Over {len(cost)} worlds AdaptiveHierTS, told neither widths nor noise, has "
        f"{spread(ratios)}, the regret of HierTS told the truth.",
        certainty(runs),
    )
    worst = max(cost, key=lambda name: cost[name][0])
    report.figure(
        "shapes",
        figure,
        f"AdaptiveHierTS loses most in the world “{worst}”, with {number(*cost[worst])} times the "
        "regret of HierTS. Each row is a world. HierTS, PooledTS and TS are told the true widths "
        "and noise; AdaptiveHierTS is told neither. " + of_errors(runs, "Bars are 95 % intervals."),
    )


EXPERIMENT = Experiment("widths of many shapes, unknown: what learning them costs", run)
