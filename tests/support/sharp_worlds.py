"""Beliefs with numbers of very different sizes: checks for any seed, for tests and soaks."""

from contextlib import contextmanager

import numpy as np

from hierbandits import Belief, GaussianHierarchy, TaskSums
from support.exact_oracle import ExactPosterior
from support.oracle import random_cov

D, TASKS = 3, 2


def dense(rng, noise_std):
    return GaussianHierarchy(
        hyper_mean=rng.normal(size=D),
        hyper_cov=random_cov(rng, D),
        task_cov=random_cov(rng, D, 0.7),
        noise_std=noise_std,
    )


def _arms_with(prior, *covs):
    """An armed hierarchy with the mean and the noise of another."""
    armed = GaussianHierarchy.armed(D, hyper_std=1.0, task_std=1.0, noise_std=prior.noise_std)
    return armed.with_levels(prior.hyper_mean, covs)


def vectors(rng, noise_std):
    prior = dense(rng, noise_std)
    return _arms_with(prior, *prior.covs)


def common(rng, noise_std):
    prior = dense(rng, noise_std)
    return _arms_with(prior, prior.covs[0], np.diag(rng.uniform(0.1, 1.0, D)) + 0.3)


def events(rng, prior, number):
    """Rewards of the model; one event is made twice."""
    tasks, arms = rng.integers(0, TASKS, number), rng.integers(0, D, number)
    x = np.eye(D)[arms] if prior.is_armed else rng.normal(size=(number, D))
    tasks[-1], arms[-1], x[-1] = tasks[1], arms[1], x[1]
    theta = rng.normal(size=D) + rng.normal(size=(TASKS, D))
    rewards = (x * theta[tasks]).sum(1) + prior.noise_std * rng.normal(size=number)
    return tasks, arms if prior.is_armed else x, rewards, x


def observed(prior, tasks, features, rewards):
    belief = Belief(prior, TASKS)
    belief.observe(tasks, features, rewards)
    return belief


def from_sums(prior, tasks, features, rewards):
    sums = TaskSums.zeros(TASKS, D, armed=prior.is_armed)
    sums.add(tasks, features, rewards)
    return Belief.from_sums(prior, sums)


MAKERS, LEARNERS = (dense, vectors, common), (observed, from_sums)


def check_exact(make, learn, noise, number, seed=0):
    """Variances are right to 1e-7 of themselves, and means as far as their digits go.

    Sums have lost some digits of these.  Nor can they tell almost collinear features from collinear
    ones, so such events are not judged by them; returns whether they were.
    """
    loss = 1e-9 + 1e-15 / noise if learn is observed else 1e-6 + 1e-12 / noise
    rng = np.random.default_rng([seed, number, int(-np.log10(noise))])
    prior = make(rng, noise)
    tasks, features, rewards, x = events(rng, prior, number)
    if learn is from_sums and any(_almost_collinear(x[tasks == task]) for task in range(TASKS)):
        return False
    belief, exact = learn(prior, tasks, features, rewards), ExactPosterior(prior, TASKS)
    exact.observe(tasks, x, rewards)
    if not prior.is_armed:
        features = x = np.concatenate([x, rng.normal(size=(2, D))])
        tasks = np.append(tasks, [0, 1])
    found = belief.predict(tasks, features)
    for e, task in enumerate(tasks.tolist()):
        mean, var = exact.predict(task, x[e])
        assert abs(found.within_var[e] + found.shared_var[e] - var) <= 1e-7 * var
        assert abs(found.mean[e] - mean) < 1e-12 + loss * np.sqrt(var)
    if learn is observed:
        assert abs(belief.log_evidence()[0] / exact.log_evidence() - 1) < 1e-4
    return True


def _almost_collinear(x):
    values = np.linalg.svd(x, compute_uv=False)
    return values.size > 0 and ((values > 1e-12 * values[0]) & (values < 1e-3 * values[0])).any()


@contextmanager
def _no_digits_are_left():
    """What is inside may be refused, for this reason alone."""
    try:
        yield
    except ValueError as error:
        if "leave no digits" not in str(error):
            raise


def _drawn_size(rng):
    return 10.0 ** rng.choice([-60, -58, -31, -2, 0, 2, 29, 58, 60]) * rng.uniform(0.1, 0.9)


def check_finite(seed, path):
    """Whatever is accepted leaves finite numbers, and a file that loads; returns if it was."""
    rng = np.random.default_rng(seed)
    make = [dense, vectors, common, None][seed % 4]
    widths = np.sqrt([min(_drawn_size(rng), 1e59) for _ in range(3)])
    if make is None:
        prior = GaussianHierarchy.armed(
            D, hyper_std=1, task_std=1, noise_std=_drawn_size(rng) + 1e-59
        )
        prior = prior.with_levels(prior.hyper_mean, [np.full(D, w**2) for w in widths])
    else:
        prior = make(rng, _drawn_size(rng) + 1e-59)
        covs = [w**2 * cov / 10 for w, cov in zip(widths, prior.covs, strict=False)]
        prior = prior.with_levels(np.full(D, min(_drawn_size(rng), 1e59)), covs)
    belief = None
    with _no_digits_are_left():
        belief = Belief(prior, (2, 1) if prior.num_levels == 3 else 2)
    if belief is None:
        return False
    for _ in range(6):
        size, reward = _drawn_size(rng), np.full(2, _drawn_size(rng)) * rng.choice([-1, 1], 2)
        x = rng.integers(0, D, 2) if prior.is_armed else size * rng.uniform(-1, 1, (2, D))
        noise = None if rng.random() < 0.7 else np.full(2, _drawn_size(rng) + 1e-59)
        with _no_digits_are_left():
            belief.observe([0, 1], x, reward, noise)
    assert np.isfinite(belief.sample(rng, [0, 1])).all()
    assert np.isfinite(belief.log_evidence()).all()
    belief.save(path)
    Belief.load(path)
    return True
