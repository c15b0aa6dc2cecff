"""Algorithm 1 of the paper in numpy, one run at a time: as a reader would write it, and tuned."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hierbandits.environments import ActionSets, HierarchicalBandit

Matrix = NDArray[np.floating]


def run(
    problem: HierarchicalBandit, num_interactions: int, size: int, rng: Generator, tuned: bool
) -> float:
    """The regret of HierTS in one world, its posteriors recomputed from sums every round.

    Draws are numpy's own multivariate normals, or if tuned by way of a Cholesky factor.
    [HBB, Algorithm 1, eq. linear hyperposterior, eq. linear conditional]
    """
    draw = _by_factor if tuned else _by_numpy
    prior, m, d = problem.hierarchy, problem.num_tasks, problem.hierarchy.dim
    assert isinstance(problem.actions, ActionSets)
    mu = rng.multivariate_normal(prior.hyper_mean, prior.hyper_cov)
    theta = rng.multivariate_normal(mu, prior.task_cov, m)
    arms = rng.uniform(-problem.actions.size, problem.actions.size, (problem.actions.num_arms, d))
    values = theta @ arms.T
    hyper_precision, task_precision = np.linalg.inv(prior.hyper_cov), np.linalg.inv(prior.task_cov)
    G, B = np.zeros((m, d, d)), np.zeros((m, d))
    order = rng.permutation(np.repeat(np.arange(m), num_interactions))
    regret = 0.0
    for batch in order.reshape(-1, size):
        shrunk = np.linalg.inv(task_precision + G)
        precision = hyper_precision + (G - G @ shrunk @ G).sum(axis=0)
        weighted = B - (G @ shrunk @ B[:, :, None])[:, :, 0]
        weight = hyper_precision @ prior.hyper_mean + weighted.sum(axis=0)
        drawn = draw(np.linalg.inv(precision), weight, rng)
        choices = []
        for s in batch:
            sample = draw(shrunk[s], task_precision @ drawn + B[s], rng)
            choices.append(int(np.argmax(arms @ sample)))
        for s, choice in zip(batch, choices, strict=True):
            x = arms[choice]
            reward = values[s, choice] + prior.noise_std * rng.standard_normal()
            G[s] += np.outer(x, x) / prior.noise_std**2
            B[s] += x * reward / prior.noise_std**2
            regret += values[s].max() - values[s, choice]
    return regret


def _by_numpy(cov: Matrix, weight: Matrix, rng: Generator) -> Matrix:
    drawn: Matrix = rng.multivariate_normal(cov @ weight, cov)
    return drawn


def _by_factor(cov: Matrix, weight: Matrix, rng: Generator) -> Matrix:
    drawn: Matrix = cov @ weight + np.linalg.cholesky(cov) @ rng.standard_normal(len(weight))
    return drawn
