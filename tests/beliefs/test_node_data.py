"""What tasks tell their parent has the digits of their sums, at all widths and sizes."""

import numpy as np
import pytest
from support.exact_messages import (
    exact_hyper,
    exact_message,
    fractions,
    product,
    solve,
    standard_error,
    total,
)

import hierbandits as hb
from hierbandits.beliefs.absent_tasks import AbsentTasks

WIDTHS = [1e-12, 1e-9, 1e-5, 1.0, 1e3, 1e6]
PAIRS = [(one, two) for one in WIDTHS for two in WIDTHS]


def summed(prior, number, rng):
    """The sums of two tasks of so many events."""
    sums = hb.TaskSums.zeros(2, prior.dim, armed=prior.is_armed)
    for task in range(2):
        if prior.is_armed:
            counts = np.floor(rng.dirichlet(np.ones(prior.dim)) * number)
            counts[rng.integers(prior.dim)] += number - counts.sum()
            sums.xx[task], noise = counts, rng.normal(size=prior.dim)
            sums.xy[task] = counts * rng.normal(size=prior.dim) + np.sqrt(counts) * noise
        else:
            rows = min(number, 200)
            x = rng.normal(size=(rows, prior.dim)) * np.sqrt(number / rows)
            y = x @ rng.normal(size=prior.dim) + rng.normal(size=rows)
            sums.xx[task], sums.xy[task] = x.T @ x, x.T @ y
    sums.n[:], sums.yy[:] = number, 100 * number
    return sums


def linear(dim, correlation, widths):
    std = np.array([*widths, 1.0][:dim])
    same = np.full((dim, dim), correlation) + (1 - correlation) * np.eye(dim)
    return hb.GaussianHierarchy(
        hyper_mean=np.linspace(-0.3, 0.5, dim), hyper_cov=np.eye(dim) + 0.3,
        task_cov=same * np.outer(std, std), noise_std=0.75,
    )  # fmt: skip


def armed(widths, **more):
    return hb.GaussianHierarchy.armed(
        3, hyper_mean=[0.3, -0.1, 0.2], hyper_std=[1.0, 0.5, 2.0], task_std=widths, noise_std=0.75,
        **more,
    )  # fmt: skip


def check(prior, rng, most):
    for number in (1, 2, 30, 10**6):
        sums = summed(prior, number, rng)
        exact = exact_hyper(prior, sums)
        told = AbsentTasks.of(prior).told_by(sums)
        known = hb.merge_contributions(prior, [told])
        assert standard_error(known, exact) < most, number
        assert standard_error(hb.Belief.from_sums(prior, sums).hyper(), exact) < most, number


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.99])
def test_features_of_all_widths(dim, correlation):
    rng = np.random.default_rng(dim)
    for widths in PAIRS:
        check(linear(dim, correlation, widths), rng, 5e-9)


def test_arms_of_all_widths():
    rng = np.random.default_rng(0)
    for one, two in PAIRS:
        check(armed([one, two, 1.0]), rng, 1e-11)


def test_arms_with_a_part_in_common():
    rng = np.random.default_rng(1)
    for own, common in PAIRS:
        if 1e-6 < own / common < 1e6:  # else their sum has few digits of the smaller one
            check(armed(own, common_std=common), rng, 1e-9)


def test_one_arm_that_was_played_very_often_leaves_the_part_in_common_its_digits():
    prior = hb.GaussianHierarchy.armed(
        3, hyper_std=1.0, task_std=1e-5, noise_std=1 / 1024, common_std=1.0
    )
    sums = hb.TaskSums.zeros(1, 3, armed=True)
    sums.xx[0, 0], sums.xy[0, 0], sums.n[0] = 1e6, 3e5, 1e6
    known = hb.merge_contributions(prior, [AbsentTasks.of(prior).told_by(sums)])
    assert standard_error(known, exact_hyper(prior, sums)) < 1e-9


def test_nodes_in_one_call_keep_their_own_digits():
    """Easy ones beside one of which a feature has said very much, and another one little."""
    prior = linear(2, 0.5, (1.0, 0.5))
    sums = summed(prior, 3, np.random.default_rng(5)) + summed(prior, 20, np.random.default_rng(6))
    sums.xx[1], sums.xy[1] = np.diag([1e17, 0.5]), [3e16, 0.7]
    known = hb.merge_contributions(prior, [AbsentTasks.of(prior).told_by(sums)])
    assert standard_error(known, exact_hyper(prior, sums)) < 1e-9


def test_a_belief_of_sums_knows_its_tasks_at_all_widths():
    """The task beside its population: theta of two tasks, exactly."""
    rng = np.random.default_rng(2)
    for widths in [(1e-9, 1.0), (1e-5, 1e3), (1.0, 1e-7), (1e-8, 1e-8)]:
        for correlation in (0.0, 0.5):
            prior = linear(2, correlation, widths)
            sums = summed(prior, 30, rng)
            belief = hb.Belief.from_sums(prior, sums)
            exact = exact_task(prior, sums)
            assert standard_error(belief.task(0), exact) < 1e-7


def exact_task(prior, sums):
    """The first task's posterior: it is the root of a hierarchy whose other tasks tell it."""
    noise = prior.noise_std**2
    one, two = sums.rows([0]), sums.rows([1])
    told, weighted = exact_message(prior.task_cov, two.xx[0] / noise, two.xy[0] / noise)
    inverse = solve(fractions(prior.hyper_cov), fractions(np.eye(2)))
    above = solve(total(inverse, told), fractions(np.eye(2)))
    right = product(inverse, fractions(prior.hyper_mean[:, None]))
    mean = product(above, total(right, [[b] for b in weighted]))
    inverse = solve(total(above, fractions(prior.task_cov)), fractions(np.eye(2)))
    precision = total(inverse, fractions(one.xx[0] / noise))
    right = total(product(inverse, mean), fractions(one.xy[0][:, None] / noise))
    cov = solve(precision, fractions(np.eye(2)))
    return np.array([float(row[0]) for row in product(cov, right)]), np.array(
        [[float(value) for value in row] for row in cov]
    )
