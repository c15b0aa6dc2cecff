"""Probabilities whose log odds are wide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from hierbandits.models import BernoulliRewards

NORMALS = np.linspace(-12, 12, 400_001)
WEIGHTS = np.exp(-(NORMALS**2) / 2)
WEIGHTS /= WEIGHTS.sum()


@pytest.mark.parametrize("std", [0.5, 1.4, 1.6, 3.0, 10.0, 30.0, 100.0])
def test_moments_are_those_of_a_fine_sum(std):
    means = np.array([-20.0, -8.0, -0.3, 2.0, 8.0])
    mean, spread = BernoulliRewards().mean_and_std(means, np.full(5, std))
    p = expit(means[:, None] + std * NORMALS)
    assert_allclose(mean, p @ WEIGHTS, rtol=1e-8)
    assert_allclose(spread, np.sqrt((p - (p @ WEIGHTS)[:, None]) ** 2 @ WEIGHTS), rtol=1e-7)


def test_far_from_even_odds_there_is_a_probability():
    mean, spread = BernoulliRewards().mean_and_std(np.array([-200.0, 200.0]), np.full(2, 2.0))
    assert_allclose(mean, [np.exp(-198.0), 1.0], rtol=1e-3)
    assert (spread >= 0).all()
