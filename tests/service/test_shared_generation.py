"""Generations as the store keeps them."""

import numpy as np
import pytest
from support.shared_stores import PRIORS

from hierbandits.beliefs.contribution import Contribution
from hierbandits.service.shared_generation import SharedGeneration


@pytest.mark.parametrize("kind", PRIORS)
def test_a_generation_comes_back_bit_for_bit(kind):
    prior, rng = PRIORS[kind], np.random.default_rng(0)
    told = Contribution(rng.normal(size=prior.hyper_cov.shape), rng.normal(size=prior.dim))
    one = SharedGeneration(7, 2, prior, told, 40, 44, 3)
    two = SharedGeneration.from_row(*one.to_row())
    assert (two.number, two.version, two.rewards, two.due, two.age) == (7, 2, 40, 44, 3)
    assert two.hierarchy.to_dict() == prior.to_dict()
    np.testing.assert_array_equal(two.told.precision, told.precision)
    np.testing.assert_array_equal(two.told.weighted, told.weighted)
