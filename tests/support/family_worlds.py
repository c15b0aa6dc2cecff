"""Random models and rewards of any family, for tests."""

import numpy as np

import hierbandits as hb
from hierbandits.models import FAMILIES, GaussianRewards

FORMS = ["linear", "deep", "armed", "deep armed", "correlated", "in common"]


def random_cov(rng, dim, scale=1.0):
    root = rng.normal(size=(dim, dim))
    return scale * (root @ root.T / dim + 0.2 * np.eye(dim))


def hierarchy(form, rng, dim=3):
    """A hierarchy of this form that is no identity, and the number of its tasks at each level."""
    mean = rng.normal(size=dim) - 0.5
    covs = [random_cov(rng, dim, scale) for scale in (0.8, 0.4, 0.3)]
    stds = [0.5 + rng.random(dim) for _ in range(3)]
    if form == "linear":
        prior = hb.GaussianHierarchy(
            hyper_mean=mean, hyper_cov=covs[0], task_cov=covs[1], noise_std=0.6
        )
    elif form == "deep":
        prior = hb.GaussianHierarchy.deep(hyper_mean=mean, covs=covs, noise_std=0.6)
    elif form.endswith("armed"):
        groups = [stds[2]] if form == "deep armed" else []
        prior = hb.GaussianHierarchy.armed(
            dim,
            hyper_mean=mean,
            hyper_std=stds[0],
            task_std=stds[1],
            group_stds=groups,
            noise_std=0.6,
        )
    elif form == "correlated":
        prior = hb.GaussianHierarchy.armed(
            dim, hyper_mean=mean, hyper_cov=covs[0], task_cov=covs[1], noise_std=0.6
        )
    else:
        prior = hb.GaussianHierarchy.armed(
            dim, hyper_mean=mean, hyper_std=stds[0], task_std=stds[1], common_std=0.4, noise_std=0.6
        )
    return prior, (2, 2) if form.startswith("deep") else 4


def events(prior, rng, number=40, family="bernoulli", num_tasks=4):
    """Tasks, features, rewards and exposures."""
    tasks = rng.integers(0, num_tasks, number)
    dim = prior.dim
    features = rng.integers(0, dim, number) if prior.is_armed else rng.normal(size=(number, dim))
    exposure = np.ones(number)
    if family == "binomial":
        exposure = rng.integers(1, 9, number).astype(float)
    if family == "poisson":
        exposure = 0.2 + 2 * rng.random(number)
    eta = rng.normal(size=number) - 0.5
    return tasks, features, family_of(family).draw(eta, exposure, rng.random(number)), exposure


def family_of(name):
    return GaussianRewards(0.6) if name == "gaussian" else FAMILIES[name]()
