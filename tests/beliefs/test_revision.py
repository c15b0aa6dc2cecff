"""Corrected rewards: exact, or refused with what to do."""

import numpy as np
import pytest
from support.adaptive import FORMS, TASKS, D, drawn_events, observe_one_by_one
from support.agent_lives import COMMON, CORRELATED, UNEVEN
from support.agents import LINEAR
from support.states import belief_state

from hierbandits import AdaptiveBelief, Belief, GaussianHierarchy, TaskSums, UnknownWidths

PRIORS = {"linear": LINEAR, "armed": UNEVEN, "correlated": CORRELATED, "common": COMMON}
NUMBER = 30
every_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


def _events(prior, seed=0):
    rng = np.random.default_rng(seed)
    shape = (NUMBER,) if prior.is_armed else (NUMBER, prior.dim)
    x = rng.integers(0, prior.dim, shape) if prior.is_armed else rng.normal(size=shape)
    return rng.integers(0, 4, NUMBER), x, rng.normal(size=NUMBER)


def _belief(prior, tasks, features, rewards):
    belief = Belief(prior, 4)
    belief.observe(tasks, features, rewards)
    return belief


def _assert_same(one, other):
    for node in range(one.num_nodes):
        np.testing.assert_allclose(one.task(node).mean, other.task(node).mean, atol=1e-9)
    np.testing.assert_allclose(one.log_evidence(), other.log_evidence(), rtol=1e-9)


@every_prior
@pytest.mark.parametrize("typo", [-30.0, 1e3, 1e4, 1e6, -1e9, 1e30])
def test_a_correction_is_exact_or_refused(prior, typo):
    tasks, x, rewards = _events(prior)
    wrong = np.where(np.arange(NUMBER) == 7, typo, rewards)
    belief, right = _belief(prior, tasks, x, wrong), _belief(prior, tasks, x, rewards)
    before = belief_state(belief)
    if abs(typo) > 1e5:
        with pytest.raises(ValueError, match=r"old_reward must not be so large .* by from_sums"):
            belief.revise(tasks[7], x[7], typo, rewards[7])
        assert belief_state(belief) == before
        return
    if abs(typo) < 1e3 or belief._raw_can_revise(int(tasks[7]), x[7], typo, rewards[7]):
        belief.revise(tasks[7], x[7], typo, rewards[7])
        _assert_same(belief, right)


@every_prior
def test_steps_and_several_errors_are_refused_as_one_is(prior):
    """Digits are lost by the largest error, however many steps take it back."""
    tasks, x, rewards = _events(prior)
    belief = _belief(prior, tasks, x, np.where(np.arange(NUMBER) == 7, 1e9, rewards))
    with pytest.raises(ValueError, match="old_reward"):
        belief.revise(tasks[7], x[7], 1e9, 1e8)
    wrong = np.where(np.arange(NUMBER) == 7, 1e6, rewards)
    wrong[8] = 1e3
    belief = _belief(prior, tasks, x, wrong)
    with pytest.raises(ValueError, match="old_reward"):
        belief.revise(tasks[7], x[7], 1e6, rewards[7])


@every_prior
def test_an_error_may_come_in(prior):
    """And rewards that are far from what a hierarchy expects are corrected as others are."""
    tasks, x, rewards = _events(prior)
    belief = _belief(prior, tasks, x, rewards)
    belief.revise(tasks[7], x[7], rewards[7], 1e9)
    large = _belief(prior, np.tile(tasks, 9), np.tile(x, (9,) + (1,) * (x.ndim - 1)),
                    np.tile(1e8 * np.sign(rewards), 9))  # fmt: skip
    large.revise(tasks[7], x[7], 1e8 * np.sign(rewards[7]), 0.9e8)


def test_evidence_that_has_lost_its_digits_is_not_brought_back():
    """The tasks are so narrow that means hardly follow a reward."""
    prior = GaussianHierarchy.linear(1, hyper_std=1e-4, task_std=1e-4, noise_std=1.0)
    belief = Belief(prior, 2)
    belief.observe([0, 1], [[1.0], [1.0]], [1e9, 2.0])
    with pytest.raises(ValueError, match="old_reward"):
        belief.revise(0, [1.0], 1e9, 1e8)


def test_a_reward_that_was_no_surprise_may_have_been_too_large():
    """The tasks are so wide that the evidence hardly notices it, but not its own digits."""
    prior = GaussianHierarchy.linear(1, hyper_std=1.0, task_std=1e3, noise_std=1e-3)
    belief = Belief(prior, 2)
    belief.observe([0, 1], [[1.0], [1.0]], [30.0, 0.002])
    assert belief.evidence.square[0] < 1
    with pytest.raises(ValueError, match="old_reward"):
        belief.revise(0, [1.0], 30.0, 0.003)
    belief.revise(1, [1.0], 0.002, 0.003)


def test_a_mean_that_has_lost_its_digits_is_not_brought_back():
    """Widths so wide that one reward of 1e9 is no surprise."""
    prior = GaussianHierarchy.linear(1, hyper_std=1e9, task_std=1e9, noise_std=1.0)
    belief = Belief(prior, 2)
    belief.observe([0, 1], [[1.0], [1.0]], [1e9, 2.0])
    with pytest.raises(ValueError, match="old_reward"):
        belief.revise(0, [1.0], 1e9, 0.9e9)  # a first step is refused as the whole way is
    belief.revise(1, [1.0], 2.0, 3.0)


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("typo", [1e3, 1e6, 1e8, 1e9])
def test_unknown_widths_are_those_of_the_corrected_rewards_or_refused(armed, typo):
    tasks, x, rewards = drawn_events(6, 60, armed)
    wrong = np.where(np.arange(60) == 7, typo, rewards)
    belief = AdaptiveBelief(UnknownWidths.of(D, armed=armed), TASKS)
    observe_one_by_one(belief, tasks, x, wrong)
    sums = TaskSums.zeros(belief.num_nodes, D, armed=armed)
    sums.add(tasks, x, rewards)
    before = belief_state(belief)
    if typo > 1e4:
        with pytest.raises(ValueError, match="old_reward must not be so large"):
            belief.revise(tasks[7], x[7], typo, rewards[7])
        assert belief_state(belief) == before
    else:
        belief.revise(tasks[7], x[7], typo, rewards[7])
        for name, values in sums.state().items():
            np.testing.assert_allclose(getattr(belief.sums, name), values, rtol=1e-8, atol=1e-8)


def test_rewards_of_nothing_can_be_corrected():
    belief = AdaptiveBelief(UnknownWidths.of(2, armed=True), 2)
    belief.observe([0, 1], [0, 1], [0.0, 0.0])
    belief.revise(0, 0, 0.0, 5.0)
    belief.revise(0, 0, 5.0, 0.0)
    assert not belief.sums.yy.any()


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_clicks_are_corrected(share):
    """Most rewards are 0, and those that are not are alike."""
    rng = np.random.default_rng(0)
    tasks, arms = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    clicks = (rng.random(300) < share).astype(float)
    clicks[5] = 1.0
    belief = AdaptiveBelief(UnknownWidths.of(3, armed=True), 40)
    belief.observe(tasks, arms, clicks)
    belief.revise(tasks[5], arms[5], 1.0, 0.0)
    assert belief.sums.yy.sum() == clicks.sum() - 1.0


def test_means_whose_squares_overflow_leave_no_digits():
    """An edited file may hold them."""
    prior = LINEAR
    tasks, features, rewards = _events(prior)
    belief = _belief(prior, tasks, features, rewards)
    belief._nodes.roots[0, prior.dim] = 1e160
    with pytest.raises(ValueError, match="old_reward must not be so large"):
        belief.revise(tasks[0], features[0], rewards[0], 0.25)
