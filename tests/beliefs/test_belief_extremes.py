"""Beliefs with numbers of very different sizes: right, or refused, and always finite."""

from contextlib import contextmanager

import numpy as np
import pytest
from support.exact_oracle import ExactPosterior
from support.oracle import random_cov

from hierbandits import Belief, GaussianHierarchy, TaskSums

D, TASKS = 3, 2


def _dense(rng, noise_std):
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


def _vectors(rng, noise_std):
    prior = _dense(rng, noise_std)
    return _arms_with(prior, *prior.covs)


def _common(rng, noise_std):
    prior = _dense(rng, noise_std)
    return _arms_with(prior, prior.covs[0], np.diag(rng.uniform(0.1, 1.0, D)) + 0.3)


def _events(rng, prior, number):
    """Rewards of the model; one event is made twice."""
    tasks, arms = rng.integers(0, TASKS, number), rng.integers(0, D, number)
    x = np.eye(D)[arms] if prior.is_armed else rng.normal(size=(number, D))
    tasks[-1], arms[-1], x[-1] = tasks[1], arms[1], x[1]
    theta = rng.normal(size=D) + rng.normal(size=(TASKS, D))
    rewards = (x * theta[tasks]).sum(1) + prior.noise_std * rng.normal(size=number)
    return tasks, arms if prior.is_armed else x, rewards, x


def _observed(prior, tasks, features, rewards):
    belief = Belief(prior, TASKS)
    belief.observe(tasks, features, rewards)
    return belief


def _from_sums(prior, tasks, features, rewards):
    sums = TaskSums.zeros(TASKS, D, armed=prior.is_armed)
    sums.add(tasks, features, rewards)
    return Belief.from_sums(prior, sums)


@pytest.mark.parametrize("learn", [_observed, _from_sums])
@pytest.mark.parametrize("make", [_dense, _vectors, _common])
@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-11])
@pytest.mark.parametrize("number", [4, 9])
def test_little_noise_beside_wide_widths_is_exact(learn, make, noise, number):
    """Variances to 1e-7 of themselves; means as far as the digits of parameters of size one go.

    Sums have lost some digits of these.
    """
    loss = 1e-15 / noise + (1e-9 if learn is _observed else 1e-6)
    rng = np.random.default_rng([number, int(-np.log10(noise))])
    prior = make(rng, noise)
    tasks, features, rewards, x = _events(rng, prior, number)
    belief, exact = learn(prior, tasks, features, rewards), ExactPosterior(prior, TASKS)
    exact.observe(tasks, x, rewards)
    if not prior.is_armed:
        features = x = np.concatenate([x, rng.normal(size=(2, D))])
        tasks = np.append(tasks, [0, 1])
    found = belief.predict(tasks, features)
    for e, task in enumerate(tasks.tolist()):
        mean, var = exact.predict(task, x[e])
        assert found.within_var[e] + found.shared_var[e] == pytest.approx(var, rel=1e-7)
        assert abs(found.mean[e] - mean) < 1e-12 + loss * np.sqrt(var)
    if learn is _observed:
        assert belief.log_evidence()[0] == pytest.approx(exact.log_evidence(), rel=1e-4)


@pytest.mark.parametrize("make", [_dense, _vectors, _common])
def test_a_root_far_wider_than_its_tasks_is_exact(make):
    rng = np.random.default_rng(3)
    prior = make(rng, 0.5)
    prior = prior.with_levels(prior.hyper_mean, [1e18 * prior.covs[0], prior.covs[1]])
    tasks, features, rewards, x = _events(rng, prior, 9)
    belief, exact = _observed(prior, tasks, features, rewards), ExactPosterior(prior, TASKS)
    exact.observe(tasks, x, rewards)
    found = belief.predict(tasks, features)
    for e, task in enumerate(tasks.tolist()):
        mean, var = exact.predict(task, x[e])
        assert found.within_var[e] + found.shared_var[e] == pytest.approx(var, rel=1e-9)
        assert found.mean[e] == pytest.approx(mean, rel=1e-6, abs=1e-6)


def test_the_widest_of_several_hierarchies_decides_what_is_refused():
    plain, wide = (
        GaussianHierarchy.linear(2, hyper_std=width, task_std=width, noise_std=1.0)
        for width in (1.0, 1e6)
    )
    belief = Belief([wide, plain], 1)
    assert belief.largest_feature == Belief(wide, 1).largest_feature < 1e6
    with pytest.raises(ValueError, match="noise_std must be at least"):
        belief.observe([0], [[1.0, 1.0]], [1.0], [1e-8])
    Belief(plain, 1).observe([0], [[1.0, 1.0]], [1.0], [1e-8])


def test_features_that_would_leave_no_digits_are_refused():
    rng = np.random.default_rng(0)
    prior = _dense(rng, 1e-9)
    belief, sums = Belief(prior, TASKS), TaskSums.zeros(TASKS, D)
    large = np.full((1, D), 1e4)
    sums.add([0], large, [1.0])
    assert 1 < belief.largest_feature < 1e4
    for refused in (
        lambda: belief.observe([0], large, [1.0]),
        lambda: belief.predict([0], large),
        lambda: Belief.from_sums(prior, sums),
    ):
        with pytest.raises(ValueError, match="at most"):
            refused()
    with pytest.raises(ValueError, match="larger ones would leave no digits to the model"):
        belief.observe([0], large, [1.0])
    with pytest.raises(ValueError, match=r"noise_std must be at least .* got 1e-14"):
        belief.observe([0, 0], np.ones((2, D)), [1.0, 1.0], [1.0, 1e-14])
    assert not belief.num_rewards.any()
    belief.observe([0, 0], np.ones((2, D)), [1.0, 1.0], [1.0, 1e-9])


def test_arms_that_would_leave_no_digits_are_refused():
    rng = np.random.default_rng(1)
    for make in (_vectors, _common):
        with pytest.raises(ValueError, match=r"noise_std must be at least .* got 1e-13"):
            Belief(make(rng, 1e-13), TASKS)
        belief = Belief(make(rng, 1e-9), TASKS)
        with pytest.raises(ValueError, match=r"noise_std must be at least"):
            belief.add_populations(1, make(rng, 1e-13))
        assert belief.num_populations == 1
        with pytest.raises(ValueError, match=r"noise_std must be at least .* got 1e-14"):
            belief.observe([0], [1], [1.0], [1e-14])
    independent = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1.0, noise_std=1e-50)
    belief = Belief(independent, 1)
    belief.observe([0], [1], [3.0])
    assert belief.predict([0], [1]).std[0] == pytest.approx(1e-50)


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


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_accepted_leaves_finite_numbers(seed, tmp_path):
    """And a file that loads."""
    rng = np.random.default_rng(seed)
    make = [_dense, _vectors, _common, None][seed % 4]
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
        return
    for _ in range(6):
        size, reward = _drawn_size(rng), np.full(2, _drawn_size(rng)) * rng.choice([-1, 1], 2)
        x = rng.integers(0, D, 2) if prior.is_armed else size * rng.uniform(-1, 1, (2, D))
        noise = None if rng.random() < 0.7 else np.full(2, _drawn_size(rng) + 1e-59)
        with _no_digits_are_left():
            belief.observe([0, 1], x, reward, noise)
    assert np.isfinite(belief.sample(rng, [0, 1])).all()
    assert np.isfinite(belief.log_evidence()).all()
    belief.save(tmp_path / "belief")
    Belief.load(tmp_path / "belief")
