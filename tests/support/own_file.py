"""A file of one's own, for --from: a policy, a world and an experiment."""

TEXT = """
import numpy as np

import hierbandits as hb
from hierbandits.experiments import Experiment
from hierbandits.experiments.experiment import RESULT_COLUMNS, StudyRunner, add_rows, result_rows
from hierbandits.models.variants import as_given
from hierbandits.reporting.report import Report
from hierbandits.simulation.schedules import Federated

PRIOR = hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.3, noise_std=0.5)


def at_random(view, rng, tasks, arms, /):
    return arms.best(np.zeros(arms.sizes.sum()), rng)


def run(options):
    runner = StudyRunner(options, 2 * options.runs)
    report = Report("stores", "Stores", {"runs": options.runs})
    names = options.compared(["HierTS", "TS"])
    study = runner.run(WORLDS["stores"], names, Federated(), options.runs, num_interactions=3)
    report.table("all", RESULT_COLUMNS, result_rows(study))
    add_rows(report, study, "")
    return report


POLICIES = {"AtRandom": hb.Recipe(as_given, at_random, "any arm")}
WORLDS = {"stores": hb.environments.KnownBandit(prior=PRIOR, means=np.eye(3))}
EXPERIMENTS = {"stores": Experiment("stores that price together", run, ("policies",))}
"""
