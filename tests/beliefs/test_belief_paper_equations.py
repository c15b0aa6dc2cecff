"""The belief equals the paper's equations, both forms, in linear and K-armed bandits."""

import numpy as np
from support.oracle import (
    paper_armed,
    paper_armed_conditional,
    paper_linear,
    paper_linear_conditional,
    paper_linear_full_rank,
    random_cov,
)

from hierbandits import Belief, GaussianHierarchy


def _linear(seed, d=3, m=4, events=60):
    rng = np.random.default_rng(seed)
    prior = GaussianHierarchy(
        hyper_mean=rng.standard_normal(d),
        hyper_cov=random_cov(rng, d, 1.5),
        task_cov=random_cov(rng, d, 0.6),
        noise_std=0.4,
    )
    tasks = rng.integers(0, m, events)
    x, y = rng.standard_normal((events, d)), rng.standard_normal(events)
    belief = Belief(prior, m)
    belief.observe(tasks, x, y)
    split = [tasks == s for s in range(m)]
    return prior, belief, [x[s] for s in split], [y[s] for s in split], rng


def test_linear_hyperposterior_in_its_first_form_with_singular_g():
    prior, belief, xs, ys, _ = _linear(0, d=5, m=6, events=12)  # fewer events than d per task
    mean, cov, stats = paper_linear(prior, xs, ys)
    assert any(np.linalg.matrix_rank(G) < 5 for G, _ in stats)
    np.testing.assert_allclose(belief.hyper().mean, mean, rtol=1e-10)
    np.testing.assert_allclose(belief.hyper().cov, cov, rtol=1e-10)


def test_linear_hyperposterior_in_its_second_form():
    prior, belief, xs, ys, _ = _linear(1)
    _, _, stats = paper_linear(prior, xs, ys)
    mean, cov = paper_linear_full_rank(prior, stats)
    np.testing.assert_allclose(belief.hyper().mean, mean, rtol=1e-9)
    np.testing.assert_allclose(belief.hyper().cov, cov, rtol=1e-9)


def test_linear_conditional_and_the_covariance_decomposition():
    prior, belief, xs, ys, rng = _linear(2)
    _, hyper_cov, stats = paper_linear(prior, xs, ys)
    inverse_0 = np.linalg.inv(prior.task_cov)
    for task, (G, B) in enumerate(stats):
        mu = rng.standard_normal(3)
        mean, cov = paper_linear_conditional(prior, G, B, mu)
        np.testing.assert_allclose(belief.task_given(task, mu).mean, mean, rtol=1e-10)
        np.testing.assert_allclose(belief.task_given(task, mu).cov, cov, rtol=1e-10)
        gain = cov @ inverse_0
        split = belief.uncertainty(task)
        np.testing.assert_allclose(split.within, cov, rtol=1e-10)
        np.testing.assert_allclose(split.shared, gain @ hyper_cov @ gain.T, rtol=1e-9)


def test_armed_hyperposterior_and_conditional():
    rng = np.random.default_rng(3)
    num_arms, m, events = 5, 3, 30
    prior = GaussianHierarchy.armed(
        num_arms,
        hyper_mean=rng.standard_normal(num_arms),
        hyper_std=rng.uniform(0.5, 2, num_arms),
        task_std=rng.uniform(0.1, 1, num_arms),
        noise_std=0.6,
    )
    tasks = rng.integers(0, m, events)
    arms = rng.integers(0, num_arms - 1, events)  # the last arm is never played: N = 0
    y = rng.standard_normal(events)
    belief = Belief(prior, m)
    belief.observe(tasks, arms, y)
    counts, totals = np.zeros((m, num_arms)), np.zeros((m, num_arms))
    np.add.at(counts, (tasks, arms), 1)
    np.add.at(totals, (tasks, arms), y)
    mean, var = paper_armed(prior, counts, totals)
    np.testing.assert_allclose(belief.hyper().mean, mean, rtol=1e-11)
    np.testing.assert_allclose(np.diagonal(belief.hyper().cov), var, rtol=1e-11)
    for task in range(m):
        mu = rng.standard_normal(num_arms)
        given_mean, given_var = paper_armed_conditional(prior, counts[task], totals[task], mu)
        found = belief.task_given(task, mu)
        np.testing.assert_allclose(found.mean, given_mean, rtol=1e-11)
        np.testing.assert_allclose(np.diagonal(found.cov), given_var, rtol=1e-11)


def test_an_armed_hierarchy_is_the_linear_one_with_unit_vectors():
    rng = np.random.default_rng(4)
    armed = GaussianHierarchy.armed(
        4, hyper_mean=0.3, hyper_std=[1, 2, 0.5, 0.7], task_std=0.4, noise_std=0.6
    )
    linear = GaussianHierarchy(
        hyper_mean=armed.hyper_mean,
        hyper_cov=np.diag(armed.hyper_cov),
        task_cov=np.diag(armed.task_cov),
        noise_std=0.6,
    )
    tasks, arms, y = rng.integers(0, 3, 40), rng.integers(0, 4, 40), rng.standard_normal(40)
    one, other = Belief(armed, 3), Belief(linear, 3)
    one.observe(tasks, arms, y)
    other.observe(tasks, np.eye(4)[arms], y)
    for task in range(3):
        np.testing.assert_allclose(one.task(task).mean, other.task(task).mean, rtol=1e-11)
        np.testing.assert_allclose(one.task(task).cov, other.task(task).cov, atol=1e-14)
    np.testing.assert_allclose(one.log_evidence(), other.log_evidence(), rtol=1e-12)
