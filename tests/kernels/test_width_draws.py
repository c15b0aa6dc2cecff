"""Gibbs draws of widths and correlations, against draws of the prior weighted by the evidence."""

import numpy as np
import pytest
from support.width_reference import Problem

from hierbandits.kernels.random_address import random_table
from hierbandits.kernels.width_draws import draw_widths

PROBLEMS = {
    "one feature": Problem.drawn(1, 1),
    "two features": Problem.drawn(1, 2),
    "noise known": Problem.drawn(4, 2, noise_std=0.5),
    "a centre": Problem.drawn(5, 1, centre=True),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_draws_have_the_means_of_the_posterior(problem):
    """Of log widths, hyper-widths, noise, the centre and correlations, and of their squares."""
    right, error, effective = problem.weighted(2, 160_000)
    found, own = problem.drawn_by(draw_widths, 3, 200_000)
    assert effective > 300
    np.testing.assert_array_less(np.abs(found - right), 4.5 * np.hypot(error, own))


def test_a_width_of_nothing_and_a_noise_of_nothing_leave_finite_draws():
    """Rewards of zero, where only the bounds of the prior are left."""
    dim, tasks = 2, 3
    xx = np.tile(np.ones((dim, dim)), (tasks, 1, 1))  # features that are always equal
    covs, hypers, others = np.empty((200, dim, dim)), np.empty((200, dim)), np.empty((200, 4))
    for noise in (1e-12, 1.0, 1e12):
        rng = np.random.default_rng(0)
        table = random_table(rng)
        draw_widths(
            table.ctypes.data,
            xx,
            np.zeros((tasks, dim)),
            np.zeros(tasks),
            np.ones(tasks),
            np.zeros(dim),
            np.zeros(dim, bool),
            False,
            noise != 1.0,
            False,
            1e-14 * np.eye(dim),
            1e12 * np.ones(dim),
            np.array([noise, 1e6, 0.0, 0.0]),
            covs,
            hypers,
            others,
        )
        for draws in (covs, hypers, others):
            assert np.isfinite(draws).all()
        assert (np.linalg.eigvalsh(covs) > 0).all()
