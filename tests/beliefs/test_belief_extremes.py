"""Beliefs with numbers of very different sizes: right, or refused, and always finite."""

import numpy as np
import pytest
from support.exact_oracle import ExactPosterior
from support.sharp_worlds import (
    LEARNERS,
    MAKERS,
    TASKS,
    D,
    check_exact,
    check_finite,
    common,
    dense,
    events,
    observed,
    vectors,
)

from hierbandits import Belief, GaussianHierarchy, TaskSums


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-10])
@pytest.mark.parametrize("number", [4, 9])
def test_little_noise_beside_wide_widths_is_exact(learn, make, noise, number):
    assert check_exact(make, learn, noise, number)


@pytest.mark.parametrize("make", MAKERS)
def test_a_root_far_wider_than_its_tasks_is_exact(make):
    rng = np.random.default_rng(3)
    prior = make(rng, 0.5)
    prior = prior.with_levels(prior.hyper_mean, [1e18 * prior.covs[0], prior.covs[1]])
    tasks, features, rewards, x = events(rng, prior, 9)
    belief, exact = observed(prior, tasks, features, rewards), ExactPosterior(prior, TASKS)
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
    prior = dense(rng, 1e-9)
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
    for make in (vectors, common):
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


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_accepted_leaves_finite_numbers(seed, tmp_path):
    check_finite(seed, tmp_path / "belief")
