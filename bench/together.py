"""`python -m bench.together`: what it is worth to know that arms move together.

Worlds have ten arms and tasks theta = mu + a part in common + deviations.  Priors are the truth,
what a log of other tasks teaches, the same with independent arms, and nothing (AdaptiveHierTS).
"""

import argparse
from collections.abc import Sequence

import numpy as np

import hierbandits as hb
from bench.tables import Table
from hierbandits.environments import HierarchicalBandit
from hierbandits.fitting import fit_prior
from hierbandits.fitting.structure import StructureKind
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.models.model import Model
from hierbandits.policies import Recipe, thompson
from hierbandits.simulation.schedules import MultiTask

WIDTHS = ((0.3, 0.2), (1.0, 0.2), (1.0, 0.05))  # of the part in common and of deviations
ARMS, TASKS, INTERACTIONS, NOISE_STD = 10, 20, 200, 1.0
PAST_TASKS, PAST_REWARDS = 50, 200  # of the log, arms played at random


def past(truth: hb.GaussianHierarchy, seed: int) -> hb.TaskSums:
    """The sums of a log of other tasks."""
    rng = np.random.default_rng(seed)
    mu = rng.multivariate_normal(truth.hyper_mean, truth.hyper_cov)
    theta = rng.multivariate_normal(mu, truth.task_cov, PAST_TASKS)
    tasks = np.repeat(np.arange(PAST_TASKS), PAST_REWARDS)
    arms = rng.integers(0, ARMS, tasks.size)
    sums = hb.TaskSums.zeros(PAST_TASKS, ARMS, armed=True)
    sums.add(tasks, arms, theta[tasks, arms] + NOISE_STD * rng.standard_normal(tasks.size))
    return sums


def believing(prior: hb.GaussianHierarchy) -> Recipe:
    """HierTS that believes in a prior, whatever it is told."""

    def believe(_: Model) -> Model:
        return prior

    return Recipe(believe, thompson, "HierTS with a prior of its own")


def compared(common: float, own: float, runs: int, seed: int) -> list[str]:
    """A row of the table: each prior's regret over the truth's, in the same worlds."""
    truth = hb.GaussianHierarchy.armed(
        ARMS, hyper_std=1.0, task_std=own, common_std=common, noise_std=NOISE_STD
    )
    sums = past(truth, seed)
    choice = StructureChoice.of(sums, np.zeros(PAST_TASKS, np.intp), None, seed)

    def learned(structure: StructureKind) -> hb.GaussianHierarchy:
        fit = fit_prior(sums, structure=structure)
        covs = [np.diagonal(truth.hyper_cov), fit.prior.task_cov]  # for worlds of another mu
        return truth.with_levels(truth.hyper_mean, covs, fit.prior.noise_std)

    policies = {
        "truth": hb.POLICIES["HierTS"],
        "learned": believing(learned(choice.best)),
        "independent": believing(learned("diagonal")),
        "adaptive": hb.POLICIES["AdaptiveHierTS"],
    }
    world = HierarchicalBandit(hierarchy=truth, num_tasks=TASKS)
    study = hb.simulate(
        world, policies, MultiTask(), runs, seed, num_interactions=INTERACTIONS, progress=False
    )
    mean, error = study.mean("truth")
    ratios = [study.ratio(name, "truth") for name in ("learned", "independent", "adaptive")]
    odds = choice.log_odds_of_correlations
    return [
        f"{common:g} / {own:g}", f"{mean:.0f} ± {error:.0f}", f"{choice.best}, e^{odds:.0f}",
        *(f"{ratio:.2f} ± {off:.2f}" for ratio, off in ratios),
    ]  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(prog="python -m bench.together", description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="simulated worlds a row [400]")
    options = parser.parse_args(arguments)
    columns = ["common / deviations", "regret, prior true", "structure, odds", "learned",
               "learned, arms independent", "AdaptiveHierTS"]  # fmt: skip
    rows = [compared(common, own, options.runs, seed=0) for common, own in WIDTHS]
    print(Table("", columns, rows).markdown())


if __name__ == "__main__":
    main()
