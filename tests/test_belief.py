"""The belief against brute force: every posterior, on random models."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from support.oracle import random_cov
from support.worlds import World, assert_close, worlds

from hierbandits import (
    Belief,
    GaussianHierarchy,
    TaskSums,
    merge_contributions,
)


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


@settings(max_examples=100)
@given(worlds())
def test_log_evidence_is_the_joint_density_of_the_rewards(world):
    belief, joint = world.observed(), world.joint()
    total = belief.log_evidence().sum()
    assert_close(total, joint.log_evidence, scale=max(1.0, abs(joint.log_evidence)))
    assert belief.evidence.count.sum() == len(world.rewards)


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


# Laws


@settings(max_examples=60)
@given(worlds(), st.randoms(use_true_random=False))
def test_order_does_not_matter(world, random):
    order = list(range(len(world.rewards)))
    random.shuffle(order)
    one, other = world.observed(), world.observed(np.array(order, np.intp))
    for node in range(one.num_nodes):
        assert_close(
            other.task(node).mean, one.task(node).mean, scale=np.abs(one._nodes.mean).max()
        )
        assert_close(other.task(node).cov, one.task(node).cov)
    scale = np.maximum(1.0, np.abs(one.log_evidence()).max())
    assert_close(other.log_evidence(), one.log_evidence(), scale=scale)


@settings(max_examples=40)
@given(worlds(), st.integers(0, 25))
def test_a_batch_equals_its_events_one_by_one(world, cut):
    whole, parts = world.observed(), world.belief()
    for e in [slice(0, cut), *(slice(i, i + 1) for i in range(cut, len(world.rewards)))]:
        parts.observe(world.tasks[e], world.features[e], world.rewards[e], world.noise_std[e])
    # Rewards climb in the same order, so the results are the same to the bit.
    np.testing.assert_array_equal(parts._nodes.mean, whole._nodes.mean)
    np.testing.assert_array_equal(parts._nodes.factor, whole._nodes.factor)
    np.testing.assert_array_equal(parts.log_evidence(), whole.log_evidence())


@settings(max_examples=30)
@given(worlds(max_events=0))
def test_no_data_gives_the_prior(world):
    belief, joint = world.belief(), world.joint()
    np.testing.assert_array_equal(belief.log_evidence(), 0.0)
    for node in range(belief.num_nodes):
        mean, cov = joint.of(node)
        assert_close(belief.task(node).mean, mean)
        assert_close(belief.task(node).cov, cov)


@settings(max_examples=30)
@given(worlds(max_events=12))
def test_the_same_batch_twice_counts_twice(world):
    twice = world.observed()
    twice.observe(world.tasks, world.features, world.rewards, world.noise_std)
    doubled = World(
        world.prior,
        world.shape,
        world.num_populations,
        world.hyper_means,
        *(np.concatenate([part, part]) for part in (world.tasks, world.features, world.rewards)),
        np.concatenate([world.noise_std, world.noise_std]),
    )
    joint = doubled.joint()
    for node in range(twice.num_nodes):
        assert_close(twice.task(node).mean, joint.of(node)[0], scale=np.abs(joint.mean).max())
        assert_close(twice.task(node).cov, joint.of(node)[1])


def _two_levels(rng, d, hyper_cov, task_cov):
    return GaussianHierarchy(
        hyper_mean=rng.standard_normal(d), hyper_cov=hyper_cov, task_cov=task_cov, noise_std=0.7
    )


def test_task_cov_to_zero_pools_the_tasks():
    rng = np.random.default_rng(1)
    d, tasks = 3, rng.integers(0, 4, 30)
    x, y = rng.standard_normal((30, d)), rng.standard_normal(30)
    hyper_cov = random_cov(rng, d)
    prior = _two_levels(rng, d, hyper_cov, 1e-14 * random_cov(rng, d))
    pooled = GaussianHierarchy.deep(hyper_mean=prior.hyper_mean, covs=[hyper_cov], noise_std=0.7)
    near, limit = Belief(prior, 4), Belief(pooled)
    near.observe(tasks, x, y)
    limit.observe(np.zeros(30, int), x, y)
    for task in range(4):
        np.testing.assert_allclose(near.task(task).mean, limit.hyper().mean, atol=1e-10)
        np.testing.assert_allclose(near.task(task).cov, limit.hyper().cov, atol=1e-10)


@pytest.mark.parametrize("armed", [False, True])
def test_hyper_cov_zero_decouples_the_tasks(armed):
    rng = np.random.default_rng(2)
    d, tasks = 3, rng.integers(0, 2, 20)
    if armed:
        prior = GaussianHierarchy.armed(
            d, hyper_mean=[1.0, 2.0, 3.0], hyper_std=0.0, task_std=[0.3, 0.5, 0.7], noise_std=0.4
        )
        features = rng.integers(0, d, 20)
    else:
        prior = _two_levels(rng, d, np.zeros((d, d)), random_cov(rng, d))
        features = rng.standard_normal((20, d))
    y = rng.standard_normal(20)
    both, alone = Belief(prior, 2), Belief(prior, 2)
    both.observe(tasks, features, y)
    alone.observe(tasks[tasks == 0], features[tasks == 0], y[tasks == 0])
    np.testing.assert_array_equal(both.task(0).mean, alone.task(0).mean)
    np.testing.assert_array_equal(both.task(0).cov, alone.task(0).cov)
    np.testing.assert_array_equal(both.hyper().mean, prior.hyper_mean)
    np.testing.assert_array_equal(both.hyper().cov, 0.0)
    np.testing.assert_array_equal(both.uncertainty(1).shared, 0.0)


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


@settings(max_examples=60)
@given(worlds(), st.floats(-5, 5), st.integers(0, 24))
def test_revise_is_as_if_the_reward_had_been_right(world, factor, place):
    if not len(world.rewards):
        return
    e = place % len(world.rewards)
    belief = world.observed()
    new = factor * world.noise_std[e]
    belief.revise(int(world.tasks[e]), world.features[e], world.rewards[e], new, world.noise_std[e])
    world.rewards[e] = new
    joint = world.joint()
    for node in range(belief.num_nodes):
        assert_close(belief.task(node).mean, joint.of(node)[0], scale=np.abs(joint.mean).max())
        assert_close(belief.task(node).cov, joint.of(node)[1])
    scale = max(1.0, abs(joint.log_evidence))
    assert_close(belief.log_evidence().sum(), joint.log_evidence, scale=scale)


def test_revise_uses_the_noise_of_the_hierarchy_by_default():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    revised, right = Belief(prior, 2), Belief(prior, 2)
    revised.observe([0, 1], [1, 1], [5.0, 2.0])
    revised.revise(0, 1, 5.0, -1.0)
    right.observe([0, 1], [1, 1], [-1.0, 2.0])
    np.testing.assert_allclose(revised.task(1).mean, right.task(1).mean, rtol=1e-14)
    np.testing.assert_allclose(revised.log_evidence(), right.log_evidence(), rtol=1e-13)


# Sums, contributions, several hierarchies


@settings(max_examples=60)
@given(worlds())
def test_from_sums_equals_observing(world):
    world.noise_std[:] = world.prior.noise_std
    world.hyper_means[:] = world.prior.hyper_mean
    halves = []
    for part in (slice(0, 9), slice(9, None)):
        sums = TaskSums.zeros(world.num_tasks, world.prior.dim, armed=world.prior.is_armed)
        sums.add(world.tasks[part], world.features[part], world.rewards[part])
        halves.append(sums)
    belief = world.observed()
    warm = Belief.from_sums(world.prior, halves[0] + halves[1], world.num_populations, world.shape)
    means = np.abs(belief._nodes.mean).max()
    for node in range(belief.num_nodes):
        assert_close(warm.task(node).mean, belief.task(node).mean, scale=means)
        assert_close(warm.task(node).cov, belief.task(node).cov)
    np.testing.assert_array_equal(warm.evidence.count, belief.evidence.count)
    scale = max(1.0, np.abs(belief.log_evidence()).max())
    assert_close(warm.evidence.log_var, belief.evidence.log_var, scale=scale)
    assert_close(warm.evidence.square, belief.evidence.square, scale=scale)
    warm.observe(world.tasks, world.features, world.rewards)  # and it goes on from there
    belief.observe(world.tasks, world.features, world.rewards)
    assert_close(warm.task(0).mean, belief.task(0).mean, scale=means)


@settings(max_examples=60)
@given(worlds(levels=st.integers(2, 2)))
def test_merged_shards_equal_one_belief(world):
    whole = world.observed()
    m = world.shape[0]
    for population in range(world.num_populations):
        prior = world.prior.with_levels(world.hyper_means[population], world.prior.covs)
        mine = np.arange(population * m, (population + 1) * m)
        shards = []
        for members in (mine[: m // 2], mine[m // 2 :]):
            if members.size == 0:
                continue
            shard = world.belief()  # a machine that saw its own tasks alone
            seen = np.isin(world.tasks, members)
            shard.observe(
                world.tasks[seen],
                world.features[seen],
                world.rewards[seen],
                world.noise_std[seen],
            )
            shards.append(shard.contribution(members))
        merged, hyper = merge_contributions(prior, shards), whole.hyper(population)
        assert_close(merged.mean, hyper.mean, scale=np.abs(whole._nodes.mean).max(), rtol=1e-8)
        assert_close(merged.cov, hyper.cov, rtol=1e-8)
        again = merge_contributions(
            prior, reversed(shards)
        )  # commutative, and an old one can be replaced
        np.testing.assert_allclose(again.mean, merged.mean, rtol=1e-12)


def test_a_contribution_is_of_siblings():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    belief = Belief(prior, 2, 2)
    with pytest.raises(ValueError, match="children of one node"):
        belief.contribution([0, 2])
    with pytest.raises(ValueError, match="children of one node"):
        belief.contribution(belief.roots[:1])


@pytest.mark.parametrize(("hyper_std", "task_std"), [(1e3, 1e-3), (1e6, 1e-4), (1e-3, 1e3)])
@pytest.mark.parametrize("armed", [False, True])
def test_contributions_of_extreme_widths_still_merge(hyper_std, task_std, armed):
    """Little may remain of them, but never less than nothing."""
    rng = np.random.default_rng(8)
    if armed:
        prior = GaussianHierarchy.armed(3, hyper_std=hyper_std, task_std=task_std, noise_std=1.0)
        features = rng.integers(0, 3, 4)
    else:
        covs = [random_cov(rng, 3, std) for std in (hyper_std, task_std)]
        prior = GaussianHierarchy.deep(hyper_mean=np.zeros(3), covs=covs, noise_std=1.0)
        features = rng.standard_normal((4, 3))
    belief = Belief(prior, 4)
    belief.observe(np.arange(4), features, rng.standard_normal(4))
    merged = merge_contributions(prior, [belief.contribution([0, 1]), belief.contribution([2, 3])])
    assert np.isfinite(merged.mean).all()
    values = np.linalg.eigvalsh(merged.cov)
    assert values[0] > 0
    assert values[-1] <= np.linalg.eigvalsh(
        np.atleast_2d(np.diag(prior.hyper_cov) if armed else prior.hyper_cov)
    )[-1] * (1 + 1e-9)


def test_sums_of_no_tasks_and_of_nonsense():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    empty = Belief.from_sums(prior, TaskSums.zeros(0, 2, armed=True), num_populations=3)
    np.testing.assert_array_equal(empty.log_evidence(), np.zeros(3))
    with pytest.raises(ValueError, match="num_populations must be a whole number of at least 1"):
        Belief.from_sums(prior, TaskSums.zeros(2, 2, armed=True), num_populations=0)
    sums = TaskSums.zeros(2, 2, armed=True)
    sums.xy[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"sums\.xy must be finite"):
        Belief.from_sums(prior, sums)


def test_several_hierarchies_in_one_belief_are_as_if_apart():
    rng = np.random.default_rng(4)
    d, m = 3, 2
    priors = [_two_levels(rng, d, random_cov(rng, d), random_cov(rng, d)) for _ in range(2)]
    together = Belief(priors, m, 2)  # populations 0 and 1 of the first, 2 and 3 of the second
    assert together.num_populations == 4
    tasks = rng.integers(0, 4 * m, 40)
    x, y = rng.standard_normal((40, d)), rng.standard_normal(40)
    together.observe(tasks, x, y)
    for h, prior in enumerate(priors):
        apart = Belief(prior, m, 2)
        mine = tasks // (2 * m) == h
        apart.observe(tasks[mine] - 2 * m * h, x[mine], y[mine])
        for s in range(2 * m):
            np.testing.assert_array_equal(together.task(2 * m * h + s).mean, apart.task(s).mean)
            np.testing.assert_array_equal(together.task(2 * m * h + s).cov, apart.task(s).cov)
        np.testing.assert_array_equal(
            together.log_evidence()[2 * h : 2 * h + 2], apart.log_evidence()
        )


@pytest.mark.parametrize("armed", [False, True])
def test_tasks_and_populations_added_later_are_like_those_from_the_start(armed):
    rng = np.random.default_rng(5)
    d = 3
    if armed:
        prior = GaussianHierarchy.armed(d, hyper_std=1.0, task_std=0.4, noise_std=0.5)
        wider = GaussianHierarchy.armed(d, hyper_std=2.0, task_std=0.8, noise_std=0.9)
    else:
        prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d))
        wider = _two_levels(rng, d, random_cov(rng, d, 2.0), random_cov(rng, d))
    features = rng.integers(0, d, 60) if armed else rng.standard_normal((60, d))
    rewards = rng.standard_normal(60)
    grown = Belief(prior)
    first = [int(grown.add(grown.roots[0])[0]) for _ in range(40)]
    grown.observe(np.array(first)[np.arange(60) % 40], features, rewards)
    (population,) = grown.add_populations(1, wider, hyper_means=[[1.0, 2.0, 3.0]])
    second = grown.add(grown.roots[population], 3)
    grown.observe(second[np.arange(60) % 3], features, rewards)

    fixed = Belief(prior, 40)
    fixed.observe(np.arange(60) % 40, features, rewards)
    for s in (0, 39):
        np.testing.assert_array_equal(grown.task(first[s]).mean, fixed.task(s).mean)
        np.testing.assert_array_equal(grown.task(first[s]).cov, fixed.task(s).cov)
    other = Belief(wider, 3, hyper_means=[[1.0, 2.0, 3.0]])
    other.observe(np.arange(60) % 3, features, rewards)
    np.testing.assert_array_equal(grown.task(second[2]).mean, other.task(2).mean)
    np.testing.assert_array_equal(grown.log_evidence()[1], other.log_evidence()[0])


# Numerics


@pytest.mark.parametrize("armed", [False, True])
def test_a_million_updates_of_one_arm_do_not_drift(armed):
    """n equal events on one task are known in closed form, here in exact arithmetic order."""
    n, d = 1_000_000, 4
    rng = np.random.default_rng(6)
    y = 0.3 + 0.5 * rng.standard_normal(n)
    x = np.array([0.7, -0.2, 0.4, 1.1])
    if armed:
        x = np.array([0.0, 0.0, 1.0, 0.0])
        prior = GaussianHierarchy.armed(
            d, hyper_mean=0.2, hyper_std=[1.0, 2.0, 0.8, 0.4], task_std=0.3, noise_std=0.5
        )
        features = np.full(n, 2)
    else:
        prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d, 0.5))
        features = np.tile(x, (n, 1))
    belief = Belief(prior, 2)
    belief.observe(np.zeros(n, int), features, y)
    # One observation of x @ theta by the mean reward, of variance noise^2 / n.
    covs = [np.diag(c) if armed else c for c in prior.covs]
    total = covs[0] + covs[1]
    var = prior.noise_std**2 / n
    gain = total @ x / (x @ total @ x + var)
    residual = np.mean(y) - x @ prior.hyper_mean
    cov = total - np.outer(gain, gain) * (x @ total @ x + var)
    task = belief.task(0)
    np.testing.assert_allclose(task.mean, prior.hyper_mean + gain * residual, rtol=1e-9)
    # Along x nearly all variance is gone: compare there with its exact value.
    exact = 1 / (1 / (x @ total @ x) + 1 / var)
    np.testing.assert_allclose(x @ task.cov @ x, exact, rtol=1e-9)
    np.testing.assert_allclose(task.cov, cov, atol=1e-9 * np.abs(cov).max())
    assert np.linalg.eigvalsh(task.cov)[0] > 0
    other = covs[0] @ x / (x @ total @ x + var)
    np.testing.assert_allclose(belief.hyper().mean, prior.hyper_mean + other * residual, rtol=1e-9)


def test_a_task_after_many_events_still_learns_from_few_others():
    """Task states of very different precision stand beside each other."""
    rng = np.random.default_rng(7)
    d = 3
    prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d))
    sums = TaskSums.zeros(3, d)
    tasks = np.concatenate([np.zeros(100_000, int), [1, 1, 2]])
    x, y = rng.standard_normal((tasks.size, d)), rng.standard_normal(tasks.size)
    sums.add(tasks, x, y)
    belief, warm = Belief(prior, 3), Belief.from_sums(prior, sums)
    belief.observe(tasks, x, y)
    for task in range(3):
        np.testing.assert_allclose(belief.task(task).mean, warm.task(task).mean, rtol=1e-8)
        np.testing.assert_allclose(belief.task(task).cov, warm.task(task).cov, rtol=1e-8)


def test_evidence_of_an_unknown_scale_is_the_integral_over_the_scale():
    rng = np.random.default_rng(4)
    prior = GaussianHierarchy(
        hyper_mean=[0.3, -1.0],
        hyper_cov=random_cov(rng, 2, 2.0),
        task_cov=random_cov(rng, 2, 0.5),
        noise_std=1.0,
    )
    tasks, features = rng.integers(0, 3, 7), rng.standard_normal((7, 2))
    rewards = 5 * rng.standard_normal(7)

    def density(log_scale: float) -> float:  # of the rewards, and of log s: s^2 has 1 / s^2
        scale = np.exp(log_scale)
        covs = [scale**2 * cov for cov in prior.covs]
        belief = Belief(prior.with_levels(prior.hyper_mean, covs, scale), 3)
        belief.observe(tasks, features, rewards)
        return float(np.exp(belief.log_evidence()[0]))

    belief = Belief(prior, 3)
    np.testing.assert_array_equal(belief.evidence.log_any_scale(), 0.0)
    belief.observe(tasks, features, rewards)
    integral = quad(density, -3, 8, epsabs=0, epsrel=1e-10)[0] * 2  # d s^2 / s^2 = 2 d log s
    np.testing.assert_allclose(belief.evidence.log_any_scale(), np.log(integral), rtol=1e-8)
