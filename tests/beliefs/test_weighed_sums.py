"""Sums that are weighed by arm teach what rewards with noises by arm do."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.weighed_sums import WeighedSums

NOISES = np.array([0.2, 0.7, 1.9])


@pytest.mark.parametrize("parts", [{}, {"common_std": 0.5}, {"task_cov": np.eye(3) + 0.3}])
def test_they_teach_what_single_rewards_do(parts):
    rng = np.random.default_rng(0)
    tasks, arms, y = rng.integers(0, 5, 60), rng.integers(0, 3, 60), rng.normal(size=60)
    widths = {"task_std": 0.6} if "task_cov" not in parts else {}
    prior = GaussianHierarchy.armed(3, hyper_std=1.1, noise_std=0.8, **widths, **parts)
    sums, squares = TaskSums.zeros(5, 3, armed=True), np.zeros((5, 3))
    sums.add(tasks, arms, y)
    np.add.at(squares, (tasks, arms), y**2)
    weighed = WeighedSums.of(sums, squares, (0.8 / NOISES) ** 2)
    told = TaskPosteriors.of(Belief.from_sums(prior, weighed))
    belief = Belief(prior, 5)
    belief.observe(tasks, arms, y, noise_std=NOISES[arms])
    for s in range(5):
        np.testing.assert_allclose(told.means[s], belief.task(s).mean, rtol=1e-9)
        cov = np.diag(told.covs[s]) if told.is_diagonal else told.covs[s]
        np.testing.assert_allclose(cov, belief.task(s).cov, rtol=1e-9, atol=1e-12)


def test_weights_are_checked():
    sums, squares = TaskSums.zeros(2, 2, armed=True), np.zeros((2, 2))
    for weights in ([1.0, 0.0], [1.0, np.inf]):
        with pytest.raises(ValueError, match="weights must be positive, one for each arm"):
            WeighedSums.of(sums, squares, np.array(weights))
    with pytest.raises(ValueError, match="weights must be positive"):
        WeighedSums.of(TaskSums.zeros(2, 2), squares, np.ones(2))
