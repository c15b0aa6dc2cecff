"""One event at a time is a round of one, and quicker."""

import numpy as np
import pytest
from hypothesis import given, settings
from support.worlds import FORMS, random_hierarchy, worlds

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior


@settings(max_examples=40)
@given(worlds())
def test_observing_one_by_one_is_observing(world):
    world.noise_std[:] = world.prior.noise_std
    whole, single = world.observed(), world.belief()
    for task, features, reward in zip(world.tasks, world.features, world.rewards, strict=True):
        single._raw_observe_one(int(task), features, float(reward))
    (_, ours), (_, theirs) = single.state(), whole.state()
    for name, array in theirs.items():  # sums may be reordered, so not to the last bit
        scale = np.abs(array).max(initial=0.0)
        np.testing.assert_allclose(ours[name], array, rtol=1e-12, atol=1e-13 * scale)


class _Given:
    """A generator whose normals are given."""

    def __init__(self, normals):
        self.normals = normals

    def standard_normal(self, shape):
        return self.normals.reshape(shape)


@settings(max_examples=40)
@given(worlds())
def test_a_choice_is_that_of_a_draw_with_the_same_normals(world):
    belief, rng = world.observed(), np.random.default_rng(0)
    table = np.arange(belief.dim) if belief.is_armed else rng.standard_normal((5, belief.dim))
    stock = NormalStock(rng)
    for task in range(world.num_tasks):
        first, block = stock.used, stock.block
        row = belief._raw_best_row(stock, task, table)
        if stock.block is not block:  # refilled
            first, block = 0, stock.block
        taken = block[first : stock.used]
        theta, slots = belief._raw_draws(_Given(taken), np.array([task]))
        values = theta[slots[0]] if belief.is_armed else table @ theta[slots[0]]
        assert taken.size == belief.num_levels * belief._nodes.num_normals
        assert row == values.argmax()


@settings(max_examples=40)
@given(worlds())
def test_the_draws_of_one_node_are_those_of_rounds_with_the_same_normals(world):
    belief, stock = world.observed(), NormalStock(np.random.default_rng(0))
    for task in range(world.num_tasks):
        spread, nodes = belief._raw_spread(stock, task, 3), belief._nodes
        marginal = belief.task(task)
        size = belief.dim if nodes.is_diagonal else nodes.path_normals
        taken = stock.block[stock.used - 3 * size : stock.used]
        if nodes.is_diagonal:  # arms are independent: a normal for each is enough
            draws = marginal.mean + np.sqrt(np.diagonal(marginal.cov)) * taken.reshape(3, -1)
        else:
            theta, slots = belief._raw_draws(_Given(taken), np.array([task]), repeats=3, fresh=True)
            draws = theta[slots]
        expected = np.concatenate([marginal.mean[None], draws])
        np.testing.assert_allclose(spread, expected, rtol=1e-9, atol=1e-9)
        usual = Posterior._raw_spread(belief, NormalStock(np.random.default_rng(1)), task, 2)
        np.testing.assert_allclose(usual[0], spread[0], rtol=1e-9, atol=1e-9)
        assert usual.shape == (3, belief.dim)


@pytest.mark.parametrize("form", FORMS)
def test_ties_are_broken_at_random(form):
    rng = np.random.default_rng(1)
    prior = random_hierarchy(rng, form, 3, (1.0, 0.5), np.zeros(3), 1.0)
    table = np.array([1, 1, 1]) if prior.is_armed else np.ones((3, 3))
    belief, stock = Belief(prior, 2), NormalStock(np.random.default_rng(0))
    counts = np.bincount([belief._raw_best_row(stock, 0, table) for _ in range(900)], minlength=3)
    assert (np.abs(counts - 300) < 6 * np.sqrt(200)).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1e61])
def test_unfit_features_change_nothing(wrong):
    belief = Belief(GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.5, noise_std=1.0), 2)
    stock, table = NormalStock(np.random.default_rng(0)), np.eye(2)
    for _ in range(2):  # before the first block, and within it
        before = stock.rng.bit_generator.state, stock.used
        with pytest.raises(ValueError, match=r"arms must be finite and at most 1\.41421e"):
            belief._raw_best_row(stock, 0, np.array([[1.0, 0.0], [0.0, wrong]]))
        assert (stock.rng.bit_generator.state, stock.used) == before
        belief._raw_best_row(stock, 0, table)
    long = np.full((2, 2), 0.9 * belief.largest_feature)  # but their vector is longer
    assert belief._raw_best_row(stock, 0, long) in (0, 1)
