"""Full-Bayes Thompson sampling, the reference where widths are unknown."""

import numpy as np
import pytest

from hierbandits import AdaptiveBelief, GaussianHierarchy, GeneralizedHierarchy
from hierbandits.experiments.full_bayes import FULL_BAYES

PRIOR = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=0.4)


def test_its_widths_are_another_draw_in_every_round():
    """Unlike those of an adaptive belief, which stay until rewards have grown."""
    rng = np.random.default_rng(0)
    policy, tasks = FULL_BAYES(PRIOR, 4, 2), np.arange(8)
    seen = []
    for _ in range(12):
        arms = policy.act(rng, tasks)
        policy.learn(tasks, arms, rng.standard_normal(8))
        seen.append([policy.belief.hierarchy(run).noise_std for run in range(2)])
    assert len(np.unique(seen)) == 24
    assert (policy.belief.num_rewards == 48).all()


def test_its_draws_are_about_what_an_adaptive_belief_takes_for_the_middle():
    rng = np.random.default_rng(1)
    policy, tasks = FULL_BAYES(PRIOR, 40), np.repeat(np.arange(40), 3)
    middle = AdaptiveBelief(policy.belief.prior, 40)
    theta = rng.standard_normal(3) + 0.5 * rng.standard_normal((40, 3))
    draws = []
    for step in range(12):
        arms = rng.permuted(np.tile(np.arange(3), (40, 1)), axis=1).ravel()
        rewards = theta[tasks, arms] + 0.4 * rng.standard_normal(tasks.size)
        policy.learn(tasks, arms, rewards)
        middle.observe(tasks, arms, rewards)
        if step >= 4:
            draws.append(np.log(policy.belief.hierarchy().noise_std))
    assert np.mean(draws) == pytest.approx(np.log(middle.hierarchy().noise_std), abs=0.1)
    assert np.std(draws) > 0


def test_rewards_of_a_family_are_refused():
    with pytest.raises(ValueError, match="prior must be of Gaussian rewards"):
        FULL_BAYES(GeneralizedHierarchy(PRIOR, "poisson"), 2)
