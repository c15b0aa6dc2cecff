"""Logs of clicks and counts whose exact posteriors NUTS has drawn from, and those posteriors.

Twenty tasks have twenty rewards each.  Every model is wide about another mean than the truth, so
that one pass has far to go, and no covariance is an identity.  `nuts_reference` makes the file.
"""

import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import logit

import hierbandits as hb
from hierbandits.models import FAMILIES

STORED = Path(__file__).with_name("nuts_posteriors.json")
TASKS, EVENTS, DIM = 20, 20, 3
FORMS = ("features", "arms", "correlated arms")
RATES = (0.5, 0.06, 0.01)  # of clicks, or the mean of counts
CASES = [*product(["bernoulli"], FORMS, RATES), *product(["poisson"], FORMS[:2], RATES)]

HYPER_COV = np.array([[4.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.6]])
TASK_COV = np.array([[0.30, -0.10, 0.05], [-0.10, 0.25, 0.06], [0.05, 0.06, 0.16]])
ARM_COV = np.array([[4.0, 1.5, 1.0], [1.5, 3.0, 0.8], [1.0, 0.8, 3.5]])
ARM_TASK_COV = np.array([[0.5, 0.2, 0.1], [0.2, 0.3, 0.15], [0.1, 0.15, 0.4]])


@dataclass(frozen=True)
class ReferenceCase:
    """One log: its prior and its rewards, in the order in which they came."""

    family: str
    form: str
    rate: float
    prior: hb.GaussianHierarchy
    tasks: np.ndarray
    features: np.ndarray  # (E, d), or arms (E,)
    rewards: np.ndarray

    @property
    def name(self):
        return f"{self.family}, {self.form}, {self.rate:g}"

    @property
    def model(self):
        return hb.GeneralizedHierarchy(self.prior, self.family)


@dataclass(frozen=True)
class ReferencePosterior:
    """Means and standard deviations of the hyper-parameter, then of every task, (1 + tasks, d).

    The errors are the reference's own, by Monte Carlo: the largest of a mean, in standard
    deviations, and the largest of a standard deviation, as a ratio.
    """

    mean: np.ndarray
    std: np.ndarray
    mean_error: float
    std_error: float


def reference_case(family, form, rate):
    """A log of one family and form; `rate` is that of a task in the middle."""
    rng = np.random.default_rng([FORMS.index(form), int(100 * rate), len(family)])
    level = logit(rate) if family == "bernoulli" else np.log(rate)
    tasks = rng.permutation(np.repeat(np.arange(TASKS), EVENTS))
    if form == "features":
        prior = hb.GaussianHierarchy(
            hyper_mean=[0.0, 0.2, -0.1], hyper_cov=HYPER_COV, task_cov=TASK_COV, noise_std=1.0
        )
        theta = np.array([level, 0.4, -0.3])
        features = np.column_stack([np.ones(tasks.size), rng.normal(size=(tasks.size, 2))])
    else:
        covs = ARM_COV, ARM_TASK_COV
        if form == "arms":
            stds = [np.sqrt(np.diag(cov)) for cov in covs]
            parts = {"hyper_std": stds[0], "task_std": stds[1]}
        else:
            parts = {"hyper_cov": covs[0], "task_cov": covs[1]}
        prior = hb.GaussianHierarchy.armed(DIM, hyper_mean=[0.0, 0.3, -0.2], noise_std=1.0, **parts)
        theta = level + np.array([0.2, 0.0, -0.2])
        features = rng.integers(0, DIM, tasks.size)
    theta = theta + rng.normal(size=(TASKS, DIM)) @ np.linalg.cholesky(full(prior.task_cov)).T
    eta = (design(features) * theta[tasks]).sum(1)
    rewards = FAMILIES[family]().draw(eta, np.ones(eta.size), rng.random(eta.size))
    return ReferenceCase(family, form, rate, prior, tasks, features, rewards)


def design(features):
    """Features as rows of numbers: those of an arm are a unit vector."""
    return np.eye(DIM)[features] if features.ndim == 1 else features


def full(cov):
    """A covariance as a matrix."""
    return np.diag(cov) if cov.ndim == 1 else cov


@cache
def _stored():
    return json.loads(STORED.read_text())


def reference_posterior(case):
    """What NUTS found for a case; an error if its rewards are others than those of the file."""
    parts = _stored()[case.name]
    if parts["rewards"] != case.rewards.tolist():
        raise ValueError(f"rewards of {case.name} are not those of {STORED.name}: make it again")
    mean, std = np.array(parts["mean"]), np.array(parts["std"])
    return ReferencePosterior(mean, std, parts["mean_error"], parts["std_error"])
