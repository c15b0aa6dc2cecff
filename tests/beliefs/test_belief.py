"""The exact posterior, against one dense joint Gaussian on random models."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.worlds import assert_close, worlds


@settings(max_examples=150)
@given(worlds())
def test_every_marginal_matches_the_dense_joint(world):
    belief, joint = world.observed(), world.joint()
    for node in range(belief.num_nodes):
        mean, cov = joint.of(node)
        found = belief.task(node)
        assert_close(found.mean, mean, scale=np.abs(joint.mean).max())
        assert_close(found.cov, cov)
        assert_close(found.std, np.sqrt(np.diagonal(cov)))
        split = belief.uncertainty(node)
        assert_close(split.within + split.shared, cov)


@settings(max_examples=60)
@given(worlds())
def test_hyper_is_the_posterior_of_the_root(world):
    belief, joint = world.observed(), world.joint()
    roots = range(belief.num_nodes - world.num_populations, belief.num_nodes)
    assert belief.roots.tolist() == list(roots)
    for population, root in enumerate(roots):
        mean, cov = joint.of(root)
        assert_close(belief.hyper(population).mean, mean, scale=np.abs(joint.mean).max())
        assert_close(belief.hyper(population).cov, cov)


@settings(max_examples=60)
@given(worlds(levels=st.integers(2, 4)), st.integers(0, 2**32 - 1))
def test_task_given_its_parent_matches_conditioning(world, seed):
    belief, joint = world.observed(), world.joint()
    rng = np.random.default_rng(seed)
    for task in range(world.num_tasks):
        parent = belief._nodes.forest.path(task)[1]
        mu = rng.standard_normal(world.prior.dim) * np.sqrt(np.diagonal(joint.of(parent)[1]))
        mean, cov = joint.node_given(task, parent, mu)
        found = belief.task_given(task, mu)
        assert_close(found.mean, mean, rtol=1e-7)
        assert_close(found.cov, cov, rtol=1e-7)
        assert_close(belief.uncertainty(task).within, cov, rtol=1e-7)


@settings(max_examples=60)
@given(worlds(), st.integers(0, 2**32 - 1))
def test_predict_is_the_marginal_along_the_features(world, seed):
    belief = world.observed()
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, belief.num_nodes, 7)
    d = world.prior.dim
    features = rng.integers(0, d, 7) if world.prior.is_armed else rng.standard_normal((7, d))
    found = belief.predict(tasks, features)
    mean, within_var, shared_var = found
    assert mean is found.mean
    assert within_var.shape == shared_var.shape == (7,)
    vectors = np.eye(d)[features] if world.prior.is_armed else features
    for e, (task, x) in enumerate(zip(tasks, vectors, strict=True)):
        marginal, split = belief.task(task), belief.uncertainty(task)
        spread = np.abs(x) @ np.abs(marginal.cov) @ np.abs(x)
        assert_close(found.mean[e], x @ marginal.mean, scale=np.abs(x) @ np.abs(marginal.mean))
        assert_close(found.within_var[e], x @ split.within @ x, scale=spread)
        assert_close(found.shared_var[e], x @ split.shared @ x, scale=spread)
        assert_close(found.std[e], np.sqrt(x @ marginal.cov @ x), scale=np.sqrt(spread))


@settings(max_examples=40)
@given(worlds(levels=st.integers(2, 2), armed=False))
def test_a_singular_hyper_covariance_is_conditioned_exactly(world):
    rng = np.random.default_rng(3)
    direction = rng.standard_normal(world.prior.dim)
    cov = np.outer(direction, direction) * world.prior.hyper_cov[0, 0]  # rank one
    world.prior = world.prior.with_levels(world.prior.hyper_mean, [cov, world.prior.task_cov])
    belief, joint = world.observed(), world.joint()
    for node in range(belief.num_nodes):
        mean, cov = joint.of(node)
        assert_close(belief.task(node).mean, mean, scale=np.abs(joint.mean).max(), rtol=1e-7)
        assert_close(belief.task(node).cov, cov, rtol=1e-7)
