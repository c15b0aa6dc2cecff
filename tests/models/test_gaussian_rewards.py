"""Sums of plain Gaussian rewards."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hierbandits.models import GaussianRewards


def test_the_noise_is_checked_and_kept():
    assert GaussianRewards(2).shape == 2.0
    with pytest.raises(ValueError, match="noise_std must be positive"):
        GaussianRewards(-1.0)
    GaussianRewards().check("rewards", np.array([-1e9]), np.ones(1))  # any number


def test_two_rewards_tell_what_their_sum_tells():
    family, eta = GaussianRewards(0.7), np.linspace(-2, 3, 7)
    parts = np.empty((3, eta.size))
    for out, (reward, exposure) in zip(parts, [(0.4, 1.0), (1.5, 2.0), (1.9, 3.0)], strict=True):
        family.log_densities(reward, exposure, family.shape, eta, out, eta.size)
    assert_allclose(parts[0] + parts[1], parts[2])
