"""The recursion of a part in common is the dense one on such a covariance."""

from fractions import Fraction

import numpy as np
import pytest
from support.oracle import random_cov
from support.worlds import assert_close

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs.forms import ARM_VECTORS, COMMON_PART
from hierbandits.beliefs.nodes import Nodes
from hierbandits.kernels import common_part
from hierbandits.kernels.loops import TIED

K, TASKS = 4, 3


def _prior(own, common, hyper_cov=None, noise_std=0.7):
    hyper = random_cov(np.random.default_rng(5), K) if hyper_cov is None else hyper_cov
    return GaussianHierarchy.armed(
        K, hyper_mean=[0.3, -0.2, 0.5, 1.0], hyper_cov=hyper, task_std=own, common_std=common,
        noise_std=noise_std,
    )  # fmt: skip


def _both(prior, populations=2):
    """A belief of this form, and one in which arms are unit vectors."""
    beliefs = [Belief(prior, TASKS, populations) for _ in range(2)]
    for belief, form in zip(beliefs, (COMMON_PART, ARM_VECTORS), strict=True):
        belief._nodes = Nodes(prior, form)
        belief._nodes.plant([prior], np.tile(prior.hyper_mean, (populations, 1)), (TASKS,))
        belief._kernels = form.loops
    return beliefs


def _events(size=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2 * TASKS, size), rng.integers(0, K, size), rng.standard_normal(size)


def _same(quick, dense, rtol=1e-9):
    for node in range(quick.num_nodes):
        ours, theirs = quick.task(node), dense.task(node)
        assert_close(ours.mean, theirs.mean, rtol=rtol)
        assert_close(ours.cov, theirs.cov, rtol=rtol)
        scale = theirs.cov.max()
        ours, theirs = quick.uncertainty(node), dense.uncertainty(node)
        assert_close(ours.within, theirs.within, scale=scale, rtol=rtol)
    assert_close(quick.log_evidence(), dense.log_evidence(), rtol=rtol)


def test_every_loop_agrees_with_unit_vectors():
    quick, dense = _both(_prior([0.2, 0.5, 0.1, 0.4], 0.8))
    tasks, arms, rewards = _events()
    noise = np.random.default_rng(1).uniform(0.4, 1.0, 60)
    for belief in (quick, dense):
        belief.observe(tasks, arms, rewards, noise)
        belief._raw_observe_one(4, 2, 1.5)
        belief.observe([quick.roots[1]], [3], [0.4])  # a root may be observed itself
        belief.revise(int(tasks[7]), int(arms[7]), rewards[7], -2.0, noise[7])
        belief.revise(int(quick.roots[1]), 3, 0.4, 0.9)
    _same(quick, dense)
    nodes = np.array([0, 5, 2, quick.roots[0]])
    for one, other in zip(quick.predict(nodes, [1, 0, 3, 2]), dense.predict(nodes, [1, 0, 3, 2]),
                          strict=True):  # fmt: skip
        assert_close(one, other)
    at = quick._nodes.address, dense._nodes.address
    for node in (1, int(quick.roots[1])):
        one = common_part.predict_event(at[0], node, 2)
        assert_close(one, dense._kernels.predict_event(at[1], node, 2))
    means = [belief._raw_draws(None, nodes) for belief in (quick, dense)]
    assert_close(means[0][0][means[0][1]], means[1][0][means[1][1]])


def test_an_event_may_be_counted_by_nobody():
    quick, dense = _both(_prior(0.3, 0.8))
    none = np.empty((3, 0))
    for noise_std in (0.0, 0.4):
        one = common_part.observe_event(quick._nodes.address, 1, 2, 0.7, noise_std, none)
        other = dense._kernels.observe_event(dense._nodes.address, 1, 2, 0.7, noise_std, none)
        assert_close(one, other)
    np.testing.assert_array_equal(quick.log_evidence(), 0.0)


def test_a_choice_of_a_root_and_of_ties():
    quick, _ = _both(_prior(0.3, 0.8))
    quick.observe(*_events())
    arrays, normals = quick._nodes.arrays, np.random.default_rng(2).standard_normal(12)
    assert common_part.choose(quick._nodes.address, 1, normals, 1, np.array([2, 2]), 1.0) == TIED
    out = np.empty((1, K))
    root = quick.roots[1:]
    common_part.draw(arrays, root, np.array([-1]), normals[None, 1:6].copy(), out)
    table = np.array([3, 0, 1])
    chosen = common_part.choose(quick._nodes.address, int(root[0]), normals, 1, table, 1.0)
    assert chosen == out[0, table].argmax()


@pytest.mark.parametrize(
    ("own", "common"),
    [
        ([0.2, 0.5, 0.1, 0.4], 0.0),  # independent arms
        ([0.0, 0.0, 0.0, 0.0], 0.8),  # equal deviations
        ([0.2, 0.0, 0.1, 0.4], 0.8),
        (0.0, 0.0),  # equal tasks
    ],
)
def test_widths_of_zero_are_conditioned_exactly(own, common):
    prior = _prior(own, common)
    quick, dense = _both(prior)
    tasks, arms, rewards = _events()
    for belief in (quick, dense):
        belief.observe(tasks, arms, rewards)
    _same(quick, dense, rtol=1e-8)


@pytest.mark.parametrize("common", [1e-6, 1e3, 1e6])
@pytest.mark.parametrize("own", [1e-6, 1.0, 1e3])
def test_widths_far_apart_lose_few_digits(own, common):
    """Against fractions."""
    prior = _prior(own, common, hyper_cov=np.diag([1.0, 2.0, 0.5, 1.5]))
    belief, rng = Belief(prior, 2), np.random.default_rng(3)
    tasks, arms, rewards = rng.integers(0, 2, 40), rng.integers(0, K, 40), rng.standard_normal(40)
    belief.observe(tasks, arms, rewards)
    noise_var = Fraction(prior.noise_std) ** 2
    precision = [[Fraction(int(i == j)) / Fraction(prior.hyper_cov[i, i]) for j in range(K)]
                 for i in range(K)]  # fmt: skip
    weighted = [Fraction(prior.hyper_mean[i]) * precision[i][i] for i in range(K)]
    for task in range(2):
        played = [rewards[(tasks == task) & (arms == arm)].tolist() for arm in range(K)]
        means = [sum(map(Fraction, own)) / len(own) for own in played]
        # The arms' means see mu with the covariance of the task and of the means' own noise.
        seen = [[Fraction(prior.task_cov[i, j]) + (i == j) * noise_var / len(played[i])
                 for j in range(K)] for i in range(K)]  # fmt: skip
        inverse = _inverse(seen)
        for i in range(K):
            weighted[i] += sum(inverse[i][j] * means[j] for j in range(K))
            for j in range(K):
                precision[i][j] += inverse[i][j]
    cov = _inverse(precision)
    mean = [float(sum(cov[i][j] * weighted[j] for j in range(K))) for i in range(K)]
    assert_close(belief.hyper().mean, mean, rtol=1e-7)
    assert_close(belief.hyper().cov, np.array(cov, float), rtol=1e-7)


def _inverse(matrix):
    """The inverse of a matrix of fractions, by elimination."""
    size = len(matrix)
    rows = [[*row, *(Fraction(int(i == j)) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(size):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[size:] for row in rows]
