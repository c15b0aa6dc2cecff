"""Estimates of theta_s, mu_* and Sigma_0 from pictures and their labels."""

import numpy as np
import pytest
from support.digit_images import bundled

from hierbandits import Belief, GaussianHierarchy
from hierbandits.environments import digit_estimators
from hierbandits.environments.digit_estimators import (
    DIAGONAL,
    NEGATIVE,
    POSITIVE,
    SUBSAMPLES,
    THETA_ESTIMATORS,
    choice_weighted,
    estimate_population,
    least_squares,
    positive_mean,
)


def _subsample(rng):
    """Features and mean rewards of 300 bundled pictures, with 8 as the positive class."""
    rows = rng.choice(1797, 300, replace=False)
    return bundled().features[rows], np.where(bundled().labels[rows] == 8, 0.9, 0.1)


def test_a_linear_reward_is_found():
    """Where rewards are linear, weights do not matter; the ridge is small beside the data."""
    rng = np.random.default_rng(0)
    features, theta = 30 * rng.random((400, 5)), rng.standard_normal(5)
    np.testing.assert_allclose(choice_weighted(features, features @ theta), theta, rtol=1e-3)


def test_the_fit_agrees_with_its_own_choices():
    """Weighted least squares again, with the weights counted from simulated choices of thirty."""
    rng = np.random.default_rng(0)
    features, rewards = _subsample(rng)
    theta = choice_weighted(features, rewards)
    sets = rng.integers(0, 300, (100_000, 30))
    picks = sets[np.arange(len(sets)), (features @ theta)[sets].argmax(axis=1)]
    weights = 0.5 + 0.5 * 300 * np.bincount(picks, minlength=300) / len(sets)
    root = np.sqrt(weights)[:, None]
    padded = np.vstack([root * features, 0.5 * np.eye(64)])  # the ridge as data: sigma = 1/2
    targets = np.concatenate([root[:, 0] * rewards, np.zeros(64)])
    again = np.linalg.lstsq(padded, targets, rcond=None)[0]
    moved = np.sqrt(np.mean((features @ (again - theta)) ** 2))
    plain = least_squares(features, rewards)
    unweighted = np.sqrt(np.mean((features @ (plain - theta)) ** 2))
    assert moved < 0.02 < 0.05 < unweighted


def test_sigma_0_describes_the_tasks_of_the_other_half():
    """The Mahalanobis distance of a new task's fit to mu_* is d on average."""
    rng = np.random.default_rng(0)
    features = rng.random((12_000, 6)) * [1, 1, 1, 1, 1, 0]  # the last pixel is always black
    rewards = np.where(features.sum(axis=1) > 3.4, 0.9, 0.1)
    mean, cov = estimate_population(features[:6000], rewards[:6000], 200, choice_weighted)
    assert np.linalg.eigvalsh(cov)[0] == pytest.approx(DIAGONAL)
    fits = []
    for _ in range(300):
        rows = 6000 + rng.choice(6000, 200, replace=False)
        fits.append(choice_weighted(features[rows], rewards[rows]))
    away = np.array(fits)[:, :5] - mean[:5]
    distance = np.einsum("ij,jk,ik->i", away, np.linalg.inv(cov[:5, :5]), away)
    assert distance.mean() == pytest.approx(5, rel=0.2)
    assert mean[5] == 0


def test_least_squares_is_a_posterior_mean():
    """A task whose parameter is N(0, I) and whose rewards have noise 1/2, learned by a belief."""
    features, rewards = _subsample(np.random.default_rng(1))
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(64), hyper_cov=np.zeros((64, 64)), task_cov=np.eye(64), noise_std=0.5
    )
    belief = Belief(prior, 1)
    belief.observe(np.zeros(300, int), features, rewards)
    np.testing.assert_allclose(
        least_squares(features, rewards), belief.task(0).mean, rtol=1e-7, atol=1e-9
    )


def test_the_positive_mean_is_of_the_positive_pictures():
    features = np.array([[1.0, 2.0], [3.0, 8.0], [100.0, 100.0]])
    rewards = np.array([0.9, 0.9, 0.1])
    np.testing.assert_array_equal(positive_mean(features, rewards), [2.0, 5.0])
    with pytest.raises(ValueError, match=r"must have a positive picture .* got 1 pictures"):
        positive_mean(features[2:], rewards[2:])


def test_estimators_have_their_names():
    fits = {name: estimator.fit for name, estimator in THETA_ESTIMATORS.items()}
    assert fits == {
        "choice-weighted": choice_weighted,
        "least-squares": least_squares,
        "positive-mean": positive_mean,
    }


def test_the_population_is_of_the_given_fit():
    """The mean of all positive pictures, up to the luck of the sub-samples."""
    features, rewards = _subsample(np.random.default_rng(2))
    mean, cov = estimate_population(features, rewards, 100, positive_mean)
    error = np.sqrt(np.diag(cov) / SUBSAMPLES)
    assert (abs(mean - features[rewards == 0.9].mean(axis=0)) < 6 * error).all()
    assert np.sqrt(np.diag(cov)).max() > 0.02


def test_the_choice_weighted_fit_has_settled(monkeypatch):
    """Another pass moves its predictions by less than 0.01, in any of some sub-samples."""
    images = bundled()
    rng = np.random.default_rng(0)
    for digit in (0, 4, 9):
        rewards = np.where(images.labels == digit, POSITIVE, NEGATIVE)
        rows = rng.choice(len(rewards), 400, replace=False)
        features, chosen = images.features[rows], rewards[rows]
        settled = features @ choice_weighted(features, chosen)
        with monkeypatch.context() as patch:
            patch.setattr(digit_estimators, "PASSES", digit_estimators.PASSES + 1)
            further = features @ choice_weighted(features, chosen)
        assert 0 < np.abs(further - settled).max() < 0.01
