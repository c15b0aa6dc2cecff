"""Adaptive beliefs with features and rewards of any size."""

import numpy as np
import pytest
from support.adaptive import FORMS, TASKS, D, adaptive_belief, drawn_events, observe_one_by_one

from hierbandits import Agent, TaskSums
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.models.unknown_widths import UnknownWidths


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("power", [-80, 30])
def test_choices_do_not_depend_on_the_scale_of_rewards(armed, power):
    """With nothing known; powers of two, so that rounding is the same too."""
    tasks, features, rewards = drawn_events(6, 60, armed)
    widths = UnknownWidths.of(D, armed=armed)
    beliefs = [AdaptiveBelief(widths, TASKS) for _ in range(2)]
    for belief, scale in zip(beliefs, (1.0, 2.0**power), strict=True):
        observe_one_by_one(belief, tasks, features, scale * rewards)
    draws = [b.sample(np.random.default_rng(0), np.arange(TASKS)) for b in beliefs]
    np.testing.assert_allclose(draws[1], 2.0**power * draws[0], rtol=1e-9)


def test_features_of_any_size_end_up_with_the_same_answers():
    tasks, features, rewards = drawn_events(7, 200, False)
    sizes = np.array([1.0, 4.0**6, 4.0**-5])
    beliefs = [AdaptiveBelief(UnknownWidths.of(D, armed=False), TASKS) for _ in range(2)]
    for belief, size in zip(beliefs, (1.0, sizes), strict=True):
        observe_one_by_one(belief, tasks, size * features, rewards)
    plain, sized = (belief.candidates for belief in beliefs)
    np.testing.assert_array_equal(sized.units - plain.units, [[0, 6, -5]])
    np.testing.assert_allclose(
        beliefs[1].task(2).mean * sizes, beliefs[0].task(2).mean, rtol=1e-2, atol=1e-2
    )


@pytest.mark.parametrize("size", [1e8, 1e12, 1e20])
def test_features_of_very_different_sizes_are_no_trouble(size):
    """A time in nanoseconds beside a constant, say."""
    tasks, features, rewards = drawn_events(16, 200, False)
    sizes = np.array([1.0, size, 1 / size])
    plain, sized = (AdaptiveBelief(UnknownWidths.of(D, armed=False), TASKS) for _ in range(2))
    observe_one_by_one(plain, tasks, features, rewards)
    observe_one_by_one(sized, tasks, sizes * features, rewards)
    found, right = sized.task(2), plain.task(2)
    np.testing.assert_allclose(found.mean * sizes, right.mean, atol=0.3 * right.std.max())
    np.testing.assert_allclose(found.std * sizes, right.std, rtol=0.3)


@pytest.mark.parametrize("noise", [None, 1e-20, 1.0, 1e20])
@pytest.mark.parametrize("reward", [0.0, 1e-60, 1e60])
@pytest.mark.parametrize("size", [None, 1e-60, 1e-20, 1.0, 1e20, 1e60])
def test_whatever_is_accepted_leaves_finite_numbers(noise, reward, size):
    rng = np.random.default_rng(17)
    widths = UnknownWidths.of(D, armed=size is None, noise_std=noise)
    belief = AdaptiveBelief(widths, TASKS)
    size = None if size is None else min(size, widths.largest_feature)
    for e in range(30):
        signs = rng.choice([-1.0, 0.3, 1.0], (1, D))
        x = rng.integers(0, D, 1) if size is None else size * signs
        belief.observe([e % TASKS], x, rng.choice([-reward, reward], 1))
        assert np.isfinite(belief.sample(rng, np.arange(TASKS))).all()
        assert np.isfinite(belief.predict([e % TASKS], x)).all()
    assert all(np.isfinite(array).all() for array in belief.state()[1].values())
    assert np.isfinite(belief.candidates.weights()).all()


def test_sizes_that_no_unit_can_have_are_refused():
    with pytest.raises(ValueError, match="noise_std must be in"):
        UnknownWidths.of(D, armed=True, noise_std=1e21)
    belief = AdaptiveBelief(UnknownWidths.of(1, armed=False, noise_std=0.1), 1)
    with pytest.raises(ValueError, match=r"features must be finite and at most 1e\+21"):
        belief.observe([0], [[2e21]], [1.0])
    agent = Agent(num_features=1)
    for arms in ([[1.0], [1e23]], np.array([[1.0], [1e23]]), {"a": [1.0], "b": [1e23]}):
        with pytest.raises(ValueError, match=r"arms must be finite and at most 1e\+22"):
            agent.decide("store", arms)
    assert agent.tasks == []


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
    belief.learn_past(np.arange(100), many)
    found = belief.predict(np.zeros(4, int), arms)
    np.testing.assert_allclose(found.mean, 3.0 + np.arange(4), rtol=1e-4)
    assert (belief.candidates.evidence.square > 0).all()


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
