"""Gibbs draws of the widths of arms, against weighted draws of the prior."""

import numpy as np
import pytest
from support.width_reference import Problem

from hierbandits.kernels.arm_width_draws import draw_arm_widths

PROBLEMS = {
    "two arms": Problem.drawn(1, 2, arms=True, centre=True),
    "three arms": Problem.drawn(6, 3, arms=True, centre=True, noise_std=0.5),
    "in common": Problem.drawn(8, 2, arms=True, centre=True, common=True),
    "three in common": Problem.drawn(9, 3, arms=True, common=True, noise_std=0.5),
    "a factor": Problem.drawn(8, 2, arms=True, common=True, noise_std=0.5, factors=1),
    "a factor of three": Problem.drawn(10, 3, arms=True, centre=True, common=True, factors=1),
    "two factors": Problem.drawn(11, 3, arms=True, common=True, noise_std=0.5, factors=2),
    "no centre": Problem.drawn(7, 3, arms=True),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_draws_have_the_means_of_the_posterior(problem):
    more = 3 if problem.has_common and problem.noise_std is None else 1  # where all must agree
    right, error, effective = problem.weighted(2, more * 160_000)
    found, own = problem.drawn_by(draw_arm_widths, 3, more * 400_000)
    assert effective > 300
    np.testing.assert_array_less(np.abs(found - right), 4.5 * np.hypot(error, own))
