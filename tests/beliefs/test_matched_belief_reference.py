"""Beliefs beside exact posteriors, by sums over grids: random models, logit and Poisson."""

import numpy as np
import pytest
from support.family_reference import exact_posterior

import hierbandits as hb
from hierbandits.models import FAMILIES

TASKS, EVENTS = 20, 20
LEVELS = {0.5: 0.0, 0.06: -2.75, 0.01: -4.6}  # of the intercept, for a base rate


def _case(family, rate, seed=0):
    """Twenty tasks of twenty events each: a model that is no identity, and its rewards."""
    rng = np.random.default_rng([seed, int(100 * rate)])
    level = LEVELS[rate]
    prior = hb.GaussianHierarchy(
        hyper_mean=[level + 0.3, 0.2],
        hyper_cov=[[1.0, 0.2], [0.2, 0.5]],
        task_cov=[[0.3, -0.1], [-0.1, 0.25]],
        noise_std=1.0,
    )
    theta = rng.multivariate_normal([level, 0.3], prior.task_cov, TASKS)
    tasks = rng.permutation(np.repeat(np.arange(TASKS), EVENTS))
    features = np.column_stack([np.ones(tasks.size), rng.normal(size=tasks.size)])
    eta, ones = (features * theta[tasks]).sum(1), np.ones(tasks.size)
    rewards = FAMILIES[family]().draw(eta, ones, rng.random(tasks.size))
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), TASKS)
    belief.observe(tasks, features, rewards)
    exact = exact_posterior(prior, FAMILIES[family](), TASKS, (tasks, features, rewards, ones))
    return belief, exact, rewards.sum()


def _errors(belief, exact):
    """The largest errors of means, in standard deviations, and of widths, as ratios."""
    means, widths = [], []
    for node, mean, cov in zip(
        [*range(TASKS), belief.roots[0]],
        [*exact.task_means, exact.hyper_mean],
        [*exact.task_covs, exact.hyper_cov],
        strict=True,
    ):
        std = np.sqrt(np.diag(cov))
        means.append(np.abs(belief.task(node).mean - mean) / std)
        widths.append(np.abs(belief.task(node).std / std - 1))
    return np.max(means), np.max(widths)


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize("rate", LEVELS)
def test_a_converged_refit_is_right(family, rate):
    belief, exact, positives = _case(family, rate)
    report = belief.refit()
    assert report.is_converged
    assert report.sweeps <= 6
    means, widths = _errors(belief, exact)
    assert means < 0.03
    assert widths < (0.025 if positives >= 20 else 0.08)
    assert abs(belief.log_evidence()[0] - exact.log_evidence) < 0.2


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_one_pass_is_nearly_right_where_rewards_are_not_rare(family):
    belief, exact, _ = _case(family, 0.5)
    means, widths = _errors(belief, exact)
    assert means < 0.2
    assert widths < 0.15


def test_the_evidence_of_one_event_is_exact():
    """One reward's density is one integral, whatever the site."""
    prior = hb.GaussianHierarchy(
        hyper_mean=[-0.4, 0.7],
        hyper_cov=[[1.0, 0.2], [0.2, 0.5]],
        task_cov=[[0.3, -0.1], [-0.1, 0.25]],
        noise_std=1.0,
    )
    for family, reward, exposure in (
        ("bernoulli", 1.0, 1.0),
        ("binomial", 3.0, 7.0),
        ("poisson", 4.0, 2.5),
    ):
        event = [0], np.array([[1.0, -0.6]]), np.array([reward]), np.array([exposure])
        belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), 1)
        belief.observe(*event[:3], exposure=event[3])
        exact = exact_posterior(prior, FAMILIES[family](), 1, event)
        assert abs(belief.log_evidence()[0] - exact.log_evidence) < 1e-6
        means, widths = (
            np.abs(belief.hyper().mean - exact.hyper_mean).max(),
            np.abs(belief.hyper().cov - exact.hyper_cov).max(),
        )
        assert means < 1e-6  # moments are matched, so those of one event are exact
        assert widths < 1e-6
