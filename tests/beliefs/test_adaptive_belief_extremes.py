"""Adaptive beliefs with features and rewards of any size and shape."""

import numpy as np
import pytest
from support.adaptive import (
    FORMS,
    TASKS,
    D,
    adaptive_belief,
    assert_same_hierarchy,
    drawn_events,
    observe_one_by_one,
)

from hierbandits import Belief, TaskSums
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.models.unknown_widths import COMMON_ARMS, UnknownWidths


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("noise", [None, 0.7])
@pytest.mark.parametrize("power", [-60, 30])
def test_the_unit_of_rewards_changes_nothing_but_the_unit(armed, noise, power):
    """Powers of two, so that rounding is the same too."""
    tasks, features, rewards = drawn_events(6, 60, armed)
    beliefs = []
    for unit in (1.0, 2.0**power):
        stated = None if noise is None else noise * unit
        belief = AdaptiveBelief(UnknownWidths.of(D, armed=armed, noise_std=stated), TASKS)
        belief.observe(tasks, features, unit * rewards)
        observe_one_by_one(belief, tasks[:9], features[:9], unit * rewards[:9])
        beliefs.append(belief)
    plain, sized = (belief.hierarchy() for belief in beliefs)
    assert sized.noise_std == 2.0**power * plain.noise_std
    for a, b in zip(sized.covs, plain.covs, strict=True):
        np.testing.assert_array_equal(a, 4.0**power * b)
    draws = [b.sample(np.random.default_rng(0), np.arange(TASKS)) for b in beliefs]
    np.testing.assert_allclose(draws[1], 2.0**power * draws[0], rtol=1e-9)


@pytest.mark.parametrize("power", [1, 40])
def test_the_units_of_features_change_nothing_but_the_units(power):
    """A time in nanoseconds beside a constant, say."""
    tasks, features, rewards = drawn_events(7, 200, False)
    sizes = 2.0 ** (power * np.array([0.0, 1.0, -1.0]))
    beliefs = [AdaptiveBelief(UnknownWidths.of(D, armed=False), TASKS) for _ in range(2)]
    for belief, size in zip(beliefs, (1.0, sizes), strict=True):
        belief.observe(tasks, size * features, rewards)
    plain, sized = (belief.hierarchy() for belief in beliefs)
    assert sized.noise_std == plain.noise_std
    for a, b in zip(sized.covs, plain.covs, strict=True):
        np.testing.assert_allclose(a * np.outer(sizes, sizes), b, rtol=1e-12)
    found, right = beliefs[1].task(2), beliefs[0].task(2)
    np.testing.assert_allclose(found.mean * sizes, right.mean, rtol=1e-9)
    np.testing.assert_allclose(found.std * sizes, right.std, rtol=1e-9)


@pytest.mark.parametrize("noise", [None, 1e-20, 1.0, 1e20])
@pytest.mark.parametrize("reward", [0.0, 1e-100, 1e-60, 1.0, 1e60])
@pytest.mark.parametrize("size", [None, 1e-60, 1.0, 1e60])
def test_whatever_is_accepted_leaves_finite_numbers(noise, reward, size):
    rng = np.random.default_rng(17)
    widths = UnknownWidths.of(D, armed=size is None, noise_std=noise)
    belief = AdaptiveBelief(widths, TASKS + 1)
    for e in range(30):
        signs = rng.choice([-1.0, 0.3, 1.0], (1, D))
        x = rng.integers(0, D, 1) if size is None else size * signs
        belief.observe([e % TASKS], x, rng.choice([-reward, reward], 1))
        assert np.isfinite(belief.sample(rng, np.arange(TASKS + 1))).all()
        assert np.isfinite(belief.predict([e % TASKS], x)).all()
    assert all(np.isfinite(array).all() for array in belief.state()[1].values())


@pytest.mark.parametrize("mean", [0.0, 1e60])
@pytest.mark.parametrize("reward", [0.0, 1e-100, 1e-60, 1.0, 1e60])
@pytest.mark.parametrize("size", [None, 1e-60, 1.0, 1e59])
def test_whatever_is_accepted_at_once_leaves_finite_numbers(mean, reward, size):
    """A first look at very many rewards."""
    rng = np.random.default_rng(18)
    widths = UnknownWidths.of(D, armed=size is None, hyper_mean=[0.0, mean, -mean])
    x = rng.integers(0, D, 200) if size is None else size * rng.normal(size=(200, D))
    sums = TaskSums.zeros(TASKS, D, armed=size is None)
    sums.add(rng.integers(0, TASKS, 200), x, reward * rng.choice([-1.0, 1.0], 200))
    belief = AdaptiveBelief(widths, TASKS)
    belief._raw_learn_past(np.arange(TASKS), sums)
    assert all(np.isfinite(array).all() for array in belief.state()[1].values())
    assert np.isfinite(belief.sample(rng, np.arange(TASKS))).all()


def _features(kind, rng, dim):
    """Two hundred rows of features."""
    x = rng.normal(size=(200, dim))
    match kind:
        case "collinear":
            x[:, -1] = -2.0 * x[:, 0]
        case "one always zero":
            x[:, -1] = 0.0
        case "constant":
            x[:, -1] = 3.0
        case "all constant":
            x[:] = 1.0
        case "signs":
            x = np.sign(x)
        case "nothing":
            x[:] = 0.0
    return x


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize(
    "kind", ["collinear", "one always zero", "constant", "all constant", "signs", "nothing"]
)
def test_features_of_any_shape_are_fitted(kind, dim):
    """Where features say nothing, the noise is the rewards' own; elsewhere it is what is left."""
    rng = np.random.default_rng(dim)
    x, tasks = _features(kind, rng, dim), rng.integers(0, 8, 200)
    theta = np.linspace(1.0, 2.0, dim) + 0.3 * rng.normal(size=(8, dim))
    rewards = (x * theta[tasks]).sum(1) + 0.5 * rng.normal(size=200)
    belief = AdaptiveBelief(UnknownWidths.of(dim, armed=False), 9)  # one task has no reward
    for start in (0, 1, 10):  # of one reward, of a few and of all
        stop = {0: 1, 1: 10, 10: 200}[start]
        belief.observe(tasks[start:stop], x[start:stop], rewards[start:stop])
        assert np.isfinite(belief.sample(rng, np.arange(9))).all()
    assert 0.4 < belief.hierarchy().noise_std < 0.6
    found = belief.predict(tasks, x)
    assert np.sqrt(((found.mean - (x * theta[tasks]).sum(1)) ** 2).mean()) < 0.25


@pytest.mark.parametrize("arms", [1, 2, COMMON_ARMS, COMMON_ARMS + 1, 200])
def test_any_number_of_arms_is_fitted(arms):
    rng = np.random.default_rng(arms)
    tasks, played = rng.integers(0, 20, 4000), rng.integers(0, arms, 4000)
    theta = 5.0 + rng.normal(size=arms) + 0.3 * rng.normal(size=(20, arms))
    rewards = theta[tasks, played] + 0.5 * rng.normal(size=4000)
    belief = AdaptiveBelief(UnknownWidths.of(arms, armed=True), 20)
    assert belief.is_diagonal == (arms > COMMON_ARMS)
    belief.observe(tasks, played, rewards)
    belief.state()
    prior = belief.hierarchy()
    assert abs(prior.noise_std - 0.5) < 0.05
    widths = np.sqrt(prior.task_cov if prior.is_diagonal else np.diagonal(prior.task_cov))
    # With one reward for each task and arm, a width is hardly known, and may be narrow.
    assert (0.2 if arms < 16 else 0.05) < np.exp(np.log(widths).mean()) < 0.4


def test_what_it_predicts_of_large_rewards_has_the_right_variance():
    """Not a difference of squares, where 16 digits would not be enough."""
    tasks, features, rewards = drawn_events(18, 200, True)
    belief, _ = adaptive_belief(True, None)
    observe_one_by_one(belief, tasks, features, rewards + 1e9)
    found = belief.predict(np.full(D, 2), np.arange(D))
    split = belief.uncertainty(2)
    np.testing.assert_allclose(found.within_var, np.diagonal(split.within), rtol=1e-6)
    np.testing.assert_allclose(found.shared_var, np.diagonal(split.shared), rtol=1e-6)


def test_a_log_beyond_what_digits_can_tell_is_learned_all_the_same():
    """Features that are always collinear, no noise, and very many events: rounding is all."""
    rng = np.random.default_rng(19)
    arms = np.hstack([np.ones((4, 1)), np.eye(4)])
    tasks, played = np.repeat(np.arange(100), 10), rng.integers(0, 4, 1000)
    few = TaskSums.zeros(100, 5)
    few.add(tasks, arms[played], 3.0 + played)
    many = TaskSums(few.xx * 1e7, few.xy * 1e7, few.yy * 1e7, few.n * 1e7)
    belief = AdaptiveBelief(UnknownWidths.of(5, armed=False), 100)
    belief._raw_learn_past(np.arange(100), many)
    found = belief.predict(np.zeros(4, int), arms)
    np.testing.assert_allclose(found.mean, 3.0 + np.arange(4), rtol=1e-4)
    assert (belief.evidence.square > 0).all()


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", [0.0, 1.0, -1e9])
def test_rewards_that_never_vary_are_no_trouble(armed, value):
    tasks, features, _ = drawn_events(11, 50, armed)
    belief, _ = adaptive_belief(armed, None)
    rng = np.random.default_rng(0)
    for e in range(50):
        belief.observe(tasks[e : e + 1], features[e : e + 1], [value])
        assert np.isfinite(belief.sample(rng, np.arange(TASKS))).all()
    assert np.isfinite(belief.predict(tasks, features)).all()


def test_sizes_that_no_unit_can_have_are_refused():
    with pytest.raises(ValueError, match="noise_std must be in"):
        UnknownWidths.of(D, armed=True, noise_std=1e21)
    belief = AdaptiveBelief(UnknownWidths.of(1, armed=False), 1)
    with pytest.raises(ValueError, match=r"features must be finite and at most 1e\+60"):
        belief.observe([0], [[2e60]], [1.0])


def test_the_order_of_rewards_does_not_matter():
    tasks, features, rewards = drawn_events(20, 200, False)
    order = np.random.default_rng(0).permutation(200)
    one, other = (adaptive_belief(False, None)[0] for _ in range(2))
    one.observe(tasks, features, rewards)
    other.observe(tasks[order], features[order], rewards[order])
    assert_same_hierarchy(one.hierarchy(), other.hierarchy(), rtol=1e-7)


def test_a_state_of_another_form_is_refused_by_name():
    """Such as that of a version in which so few arms had a part in common alone."""
    widths = UnknownWidths.of(3, armed=True)
    meta, arrays = AdaptiveBelief(widths, 2).state()
    old_meta, old_arrays = Belief(widths.hierarchy(), 2).state()
    with pytest.raises(ValueError, match="which is arm vectors, got common part"):
        AdaptiveBelief.from_state(meta | old_meta, arrays | old_arrays)
