"""Estimators of a digit's parameters from pictures and their labels.

[HBB, appendix Image Classification Experiment].  The paper computes theta_s "using positive
images from the sub-sampled data", estimates mu_* and Sigma_0 on the training half, and says no
more about either.  So there are several readings of theta_s:

- positive-mean, the literal one: the mean of the positive pictures.  It does not predict rewards.
- least-squares: ridge least squares of the mean rewards on the features.  The ridge is sigma^2,
  so that the fit is the posterior mean under the hyper-prior N(0, I) and noise sigma.
- choice-weighted, the default: the same, with weights.  Rewards are not linear in pixels, so the
  fit depends on which pictures count.  Half of the weight is on all pictures alike, as they are
  offered; the other half is on the pictures that the fit itself would choose among K, as a
  learner does.

mu_* and Sigma_0 are the mean and the covariance of theta_s over sub-samples of the training half.
docs/paper.md has the regret under each estimator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.random import default_rng

from hierbandits.types import Matrix, Vector

POSITIVE, NEGATIVE = 0.9, 0.1  # mean rewards
NOISE_STD = 0.5  # sigma
ARMS = 30  # K
FIT_RIDGE = NOISE_STD**2
PASSES = 8  # of the choice-weighted fit: its predictions then move by less than 0.01
SUBSAMPLES = 500
DIAGONAL = 1e-6  # added to Sigma_0
_SUBSAMPLES_SEED = 0

ThetaEstimate: TypeAlias = Callable[[Matrix, Vector], Vector]
"""From features, (n, d), and mean rewards, (n,), to theta_s, (d,)."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """A way to compute theta_s from the pictures of a sub-sample."""

    summary: str  # a sentence
    fit: ThetaEstimate


def positive_mean(features: Matrix, rewards: Vector) -> Vector:
    """The mean of the positive pictures."""
    positive = rewards == POSITIVE
    if not positive.any():
        raise ValueError(
            f"every sub-sample must have a positive picture for the estimator positive-mean, "
            f"got {len(rewards)} pictures without one"
        )
    mean: Vector = features[positive].mean(axis=0)
    return mean


def least_squares(features: Matrix, rewards: Vector) -> Vector:
    """Ridge least squares with the same weight on every picture."""
    return _ridge(features, rewards, np.ones(len(rewards)))


def choice_weighted(features: Matrix, rewards: Vector) -> Vector:
    """Weighted ridge least squares, iterated until the weights agree with the fit's own choices.

    The picture of rank q in (0, 1) among its task's is the best of K with density K q^(K - 1).
    """
    n = len(rewards)
    ranks = (np.arange(n) + 0.5) / n
    chosen = ARMS * ranks ** (ARMS - 1)
    weights = np.ones(n)
    for _ in range(PASSES):
        theta = _ridge(features, rewards, weights)
        order = np.argsort(features @ theta, kind="stable")
        weights /= 2  # half a step at a time, since whole steps can go to and fro
        weights[order] += (1 + chosen) / 4
    return theta


THETA_ESTIMATORS: dict[str, Estimator] = {
    "choice-weighted": Estimator(
        "theta_s is a weighted least-squares fit of the mean rewards on the pixels. Half of the "
        "weight is on all pictures of the sub-sample alike, as they are offered. The other half "
        f"is on the pictures that the fit itself would choose among {ARMS}. Weights and fit "
        f"depend on each other, so the fit is computed {PASSES} times, and the weights move half "
        "of the way each time.",
        choice_weighted,
    ),
    "least-squares": Estimator(
        "theta_s is a least-squares fit of the mean rewards on the pixels. All pictures of the "
        "sub-sample have the same weight.",
        least_squares,
    ),
    "positive-mean": Estimator(
        "theta_s is the mean of the positive pictures of the sub-sample, as the paper's words "
        "say literally. No rewards are fitted.",
        positive_mean,
    ),
}


def estimate_population(
    features: Matrix, rewards: Vector, size: int, fit: ThetaEstimate
) -> tuple[Vector, Matrix]:
    """mu_* and Sigma_0: the mean and the covariance of theta_s over sub-samples of this size.

    Some pixels are black in every picture, so `DIAGONAL` is added to the diagonal of Sigma_0.
    """
    rng = default_rng(_SUBSAMPLES_SEED)
    thetas = np.empty((SUBSAMPLES, features.shape[1]))
    for i in range(SUBSAMPLES):
        rows = rng.choice(len(features), size, replace=False)
        thetas[i] = fit(features[rows], rewards[rows])
    return thetas.mean(axis=0), np.cov(thetas.T) + DIAGONAL * np.eye(features.shape[1])


def _ridge(features: Matrix, rewards: Vector, weights: Vector) -> Vector:
    """theta that minimises sum of weights * (rewards - features @ theta)^2 + ridge * |theta|^2."""
    weighted = features * weights[:, None]
    gram = weighted.T @ features + FIT_RIDGE * np.eye(features.shape[1])
    theta: Vector = np.linalg.solve(gram, weighted.T @ rewards)
    return theta
