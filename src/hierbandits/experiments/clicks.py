"""Clicks: what it is worth to know that rewards are 0 or 1, and what the approximation costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import logit

from hierbandits.beliefs.gibbs_belief import GibbsBelief
from hierbandits.environments import Environment, HierarchicalBandit, SampledActions
from hierbandits.environments.digit_bandit import DigitBandit, class_rewards, subsample_size
from hierbandits.environments.digit_estimators import choice_weighted, estimate_population
from hierbandits.environments.images import Images, downsampled, load
from hierbandits.experiments.experiment import Experiment, Options, StudyRunner, add_row, labelled
from hierbandits.experiments.findings import (
    certainty,
    number,
    of_errors,
    ratio_interval,
    spread,
    student,
)
from hierbandits.experiments.gibbs import GIBBS
from hierbandits.models.bernoulli_rewards import BernoulliRewards
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.policies.recipes import POLICIES, USUAL, Recipe
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.line_styles import line_style
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study
from hierbandits.types import Matrix

RATES = (0.02, 0.1, 0.5)
TASKS, INTERACTIONS, ROUND_SIZE, NUM_ARMS = 10, 100, 5, 10
HYPER_STDS, TASK_STD = (0.5, 2.0, 2.0), 0.4  # of a constant and two features, in log odds
DIGIT, BLOCK, DIGIT_STD = 0, 2, 4.0  # of 8 x 8 pixels, means over blocks of 2 x 2
DIGITS = "digits"
GAUSSIAN = "Gaussian"
REFERENCE = "Gibbs HierTS"
NAMED = ("HierTS", USUAL, "TS", "PooledTS", "OracleTS")
SHOWN = ("HierTS", f"HierTS, {GAUSSIAN}", USUAL, f"{USUAL}, {GAUSSIAN}", *NAMED[2:])
LONG_GIBBS = replace(GIBBS, make=partial(GibbsBelief, sweeps=10))
"""So many sweeps after each round that its draws hardly depend on those of the round before.

On the digits, after four rounds, log odds have a correlation of 0.06 after two sweeps, 0.02 after
five and 0.002 after ten, on average.
"""
TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True, eq=False)
class Believed:
    """The belief of one who assumes this model, whatever is told."""

    model: GaussianHierarchy

    def __call__(self, prior: Model) -> Model:
        """That model."""
        return self.model


@dataclass(frozen=True, slots=True, eq=False)
class ClickWorld:
    """Tasks whose rewards are clicks, and the Gaussian hierarchy that comes nearest to them."""

    name: str
    environment: Environment
    gaussian: GaussianHierarchy

    def policies(self) -> dict[str, Recipe]:
        """Those that know that rewards are clicks, those that assume Gaussian ones, and Gibbs."""
        recipes = {name: POLICIES[name] for name in NAMED}
        for name in ("HierTS", USUAL):
            believed = replace(POLICIES[name], believe=Believed(self.gaussian))
            recipes[f"{name}, {GAUSSIAN}"] = believed
        return recipes | {REFERENCE: LONG_GIBBS}


def synthetic_world(rate: float) -> ClickWorld:
    """The paper's synthetic problem in log odds, which are those of `rate` on average.

    Its widths are four times those of the paper's panel (a): at log odds of 0, a click then tells
    as much as a Gaussian reward of noise 1/2.  The first feature is one.
    """
    features = np.random.default_rng(0).uniform(-0.5, 0.5, (1000, 3))
    features[:, 0] = 1.0
    prior = GaussianHierarchy(
        hyper_mean=np.array([logit(rate), 0.0, 0.0]),
        hyper_cov=np.diag(np.square(HYPER_STDS)),
        task_cov=TASK_STD**2 * np.eye(3),
        noise_std=1.0,
    )
    bandit = HierarchicalBandit(
        hierarchy=prior,
        num_tasks=TASKS,
        actions=SampledActions(features, NUM_ARMS, per="run"),
        rewards=BernoulliRewards(),
    )
    return ClickWorld(f"{100 * rate:g} %", bandit, nearest_gaussian(prior, features[:200]))


def nearest_gaussian(clicks: GaussianHierarchy, features: Matrix) -> GaussianHierarchy:
    """The Gaussian hierarchy with the moments of mean rewards, if log odds have another.

    A task's mean rewards are fitted on the features by least squares.  The moments are those of
    the fits over tasks drawn from `clicks`, and the noise has the mean square of what fits leave.
    """
    rng, populations, tasks = np.random.default_rng(1), 1000, 20
    mu = rng.multivariate_normal(clicks.hyper_mean, clicks.hyper_cov, populations)
    own = rng.multivariate_normal(np.zeros(clicks.dim), clicks.task_cov, (populations, tasks))
    means = BernoulliRewards().mean((mu[:, None] + own) @ features.T)
    fits = means @ np.linalg.pinv(features).T  # (populations, tasks, d)
    centres = fits.mean(axis=1)
    apart = fits - centres[:, None]
    task_cov = np.einsum("psi,psj->ij", apart, apart) / (populations * (tasks - 1))
    left = means * (1 - means) + (means - fits @ features.T) ** 2
    return GaussianHierarchy(
        hyper_mean=centres.mean(axis=0),
        hyper_cov=np.cov(centres.T) - task_cov / tasks,
        task_cov=task_cov,
        noise_std=float(np.sqrt(left.mean())),
    )


def digit_world() -> ClickWorld:
    """The bundled digits of 4 x 4 pixels, as in `digits`: a positive picture is mostly rewarded.

    The Gaussian hierarchy is the one of `digits`.  That of log odds is estimated in the same way,
    from the log odds of mean rewards.
    """
    whole = load("digits8x8")
    images = Images(whole.pictures, whole.labels, downsampled(whole.pictures, BLOCK, white=16))
    train, test = images.halves()
    linear = DigitBandit.of(train, test, DIGIT)
    log_odds = logit(class_rewards(train.labels, DIGIT))
    size = subsample_size(len(train.labels))
    mean, cov = estimate_population(train.features, log_odds, size, choice_weighted)
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(mean.size),
        hyper_cov=DIGIT_STD**2 * np.eye(mean.size),
        task_cov=cov,
        noise_std=1.0,
    )
    clicks = GeneralizedHierarchy(prior, BernoulliRewards())
    assert isinstance(linear.prior, GaussianHierarchy)
    return ClickWorld(DIGITS, replace(linear, prior=clicks, hyper=mean), linear.prior)


def run(options: Options) -> Report:
    """Final regrets over that of HierTS with draws from the exact posterior."""
    runs = options.num_runs(1000, 8)
    rates = RATES[:1] if options.quick else RATES
    worlds = [*map(synthetic_world, rates), digit_world()]
    interactions = INTERACTIONS // 10 if options.quick else INTERACTIONS
    policies = len(worlds[0].policies())
    runner = StudyRunner(options, policies * runs * len(worlds))
    report = Report(
        "clicks",
        "Clicks: HierTS for rewards of 0 and 1 beside exact draws and Gaussian rewards",
        {
            "runs": runs,
            "seed": options.seed,
            "rates": rates,
            "m": TASKS,
            "n": interactions,
        }
        | {"L": ROUND_SIZE, "sigma_q": HYPER_STDS, "sigma_0": TASK_STD, "arms": NUM_ARMS}
        | {"digit": DIGIT, "digits": "digits8x8, means over blocks of 2 x 2 pixels"},
    )
    studies = {
        world.name: runner.run(
            world.environment, world.policies(), Concurrent(ROUND_SIZE), runs,
            num_interactions=interactions,
        )
        for world in worlds
    }  # fmt: skip
    _answer(report, studies)
    _draw(report, studies)
    report.text(
        f"The worlds named by a rate are the paper's synthetic problem in log odds: {TASKS} tasks, "
        f"{NUM_ARMS} arms of a constant and two features, and a mean log odds that stands for that "
        f"rate. In the world “digits”, as in the paper's appendix, pictures of the digit {DIGIT} "
        "are rewarded with probability 0.9 and others with 0.1; here pictures have 16 pixels. "
        f"Every task has {interactions} interactions, {ROUND_SIZE} in a round. Each world has "
        f"{runs} runs.",
        f"{REFERENCE} draws from the exact posterior, by Pólya-Gamma Gibbs sampling: it is what "
        "HierTS would do without any approximation. HierTS and the other policies learn from "
        "clicks by moment matching, with refits, as agents do. Policies with the word Gaussian "
        "believe that rewards are Gaussian, with the right means, widths and noise. All are told "
        "the widths.",
    )
    _table(report, studies)
    for name, study in studies.items():
        for row in study.summary("HierTS"):
            ratio, error = study.ratio(row["policy"], REFERENCE)
            extra = {"L": ROUND_SIZE, "ratio": ratio, "ratio_error": error}
            add_row(report, panel=name, **row | extra)
    frames = ((study.task_frame(), {"world": name}) for name, study in studies.items())
    report.frame("tasks", labelled(frames))
    return report


def _answer(report: Report, studies: Mapping[str, Study]) -> None:
    pairs = [study.ratio("HierTS", REFERENCE) for study in studies.values()]
    ratios = [ratio for ratio, _ in pairs]
    runs = next(iter(studies.values())).runs
    sentence = f"HierTS for clicks has {spread(ratios)}, the regret of {REFERENCE}"
    if runs > 1:
        most = max(ratio + student(runs) * error for ratio, error in pairs)
        sentence += f"; the highest upper end of their 95 % intervals is {most:.2f}"
    report.answer(f"{sentence}.", certainty(runs))


def _draw(report: Report, studies: Mapping[str, Study]) -> None:
    """A plot for each world, with a row for each policy."""
    figure, plots = panels(len(studies), height=3.2, width=3.4)
    places = np.arange(len(SHOWN))
    for place_of_plot, (axes, (name, study)) in enumerate(zip(plots, studies.items(), strict=True)):
        for place, policy in zip(places, SHOWN, strict=True):
            ratio, error = study.ratio(policy, REFERENCE)
            axes.errorbar(
                ratio, place, xerr=student(study.runs) * error, fmt="o", ms=5,
                color=line_style(policy.partition(",")[0])[0], elinewidth=1.2,
                markerfacecolor="white" if GAUSSIAN in policy else None,
            )  # fmt: skip
        axes.axvline(1.0, color="#444444", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axes.set_xticks([], minor=True)
        axes.set_yticks(places, SHOWN if place_of_plot == 0 else [""] * len(SHOWN))
        axes.invert_yaxis()
        axes.set(title=name, xlabel=f"regret over {REFERENCE}'s")
    each = [
        f"{study.ratio('HierTS', REFERENCE)[0]:.2f} in the world “{name}”"
        for name, study in studies.items()
    ]
    runs = next(iter(studies.values())).runs
    report.figure(
        "clicks",
        figure,
        f"The regret of HierTS over that of {REFERENCE} is {', '.join(each)}. A dot is a policy; "
        "hollow ones believe that rewards are Gaussian. "
        + of_errors(runs, "Bars are 95 % intervals."),
    )


def _table(report: Report, studies: Mapping[str, Study]) -> None:
    runs = next(iter(studies.values())).runs
    report.table(
        f"Ratio of mean regrets to that of {REFERENCE}, whose regret is in the first row"
        + ("; with 95 % intervals" if runs > 1 else ""),
        ("policy", *studies),
        [
            (REFERENCE, *(number(*study.mean(REFERENCE)) for study in studies.values())),
            *(
                (policy, *(ratio_interval(study, policy, REFERENCE) for study in studies.values()))
                for policy in SHOWN
            ),
        ],
    )


EXPERIMENT = Experiment("clicks: moment matching beside exact draws and Gaussian rewards", run)
