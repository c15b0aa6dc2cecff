"""Propensities of every rule are how often its policy plays what it plays."""

import numpy as np
import pytest
from support.policies import D, both, every, small_policy, small_prior

from hierbandits import POLICIES, Belief, GaussianHierarchy, Policy
from hierbandits.policies import Thompson, Ucb, greedy
from hierbandits.policies.forced_start import ForcedStart

COPIES, ROUNDS = 300, 8
ARMS = np.random.default_rng(4).standard_normal((4, D))
ARMS[2] = ARMS[0]  # a tie in every draw


def _copies(name, armed):
    """One policy in many populations that are alike: a round of it is many independent ones."""
    truth = np.tile(np.random.default_rng(1).standard_normal(D), (COPIES, 1))
    policy = POLICIES[name](small_prior(armed), 2, COPIES, truth=truth)
    rng = np.random.default_rng(2)
    features = rng.integers(0, D, 8) if armed else rng.standard_normal((8, D))
    tasks, rewards = rng.integers(0, 2, 8), 0.3 * rng.standard_normal(8)
    for event in range(8):
        each = 2 * np.arange(COPIES) + tasks[event]
        played = np.repeat(features[event : event + 1], COPIES, axis=0)
        policy.learn(each, played, np.full(COPIES, rewards[event]))
    if policy.forced is not None:
        policy.forced.decided = np.full(policy.belief.num_nodes, 100, np.int32)
    return policy


def _round(armed):
    """Tasks, arms and masks of a round: each copy's two tasks, the second without its arm 1."""
    masks = np.ones((2 * COPIES, D if armed else 4), bool)
    masks[1::2, 1] = False
    return np.arange(2 * COPIES), None if armed else ARMS, masks


def _frequencies(choices, size):
    """How often each of the two tasks played each arm, (2, K)."""
    played = np.concatenate(choices).reshape(-1, 2)
    return np.array([np.bincount(column, minlength=size) for column in played.T]) / len(played)


def _assert_calibrated(policy, tasks, arms, masks, floor, draws=20):
    """Choices are as frequent as those of `act`, and weigh right: E[1{arm} / propensity] = 1."""
    rng, size = np.random.default_rng(5), masks.shape[1]
    plain = _frequencies([policy.act(rng, tasks, arms, masks) for _ in range(ROUNDS)], size)
    rounds = [
        policy.act_with_propensities(rng, tasks, arms, masks, draws=draws, floor=floor)
        for _ in range(ROUNDS)
    ]
    choices, propensities = (np.array(parts) for parts in zip(*rounds, strict=True))
    assert (propensities > 0).all()
    assert (propensities <= 1 + 1e-12).all()
    number = COPIES * ROUNDS
    uniform = masks[:2] / masks[:2].sum(axis=1, keepdims=True)
    expected = (1 - floor) * plain + floor * uniform
    error = np.sqrt(expected * (1 - expected) * 2 / number + 1 / number**2)
    assert (np.abs(_frequencies(choices, size) - expected) <= 6 * error).all()
    for task in range(2):
        for arm in np.flatnonzero(masks[task]):
            hit = choices[:, task::2] == arm
            weights = np.where(hit, 1 / propensities[:, task::2], 0.0)
            if floor > 0:  # every arm has a chance
                spread = weights.std() / np.sqrt(number)
                assert abs(weights.mean() - 1) <= 6 * spread
            elif expected[task, arm] < 1 / number:
                assert hit.mean() <= 6 / number


@every
@both
@pytest.mark.parametrize("floor", [0.0, 0.25])
def test_propensities_of_every_policy_are_calibrated(name, armed, floor):
    _assert_calibrated(_copies(name, armed), *_round(armed), floor)


@both
@pytest.mark.parametrize("rule", [Thompson(fresh=True), Ucb(-1.0), Ucb(0.0)])
def test_propensities_of_rules_with_options_are_calibrated(rule, armed):
    policy = _copies("HierTS", armed)
    policy.rule = rule
    _assert_calibrated(policy, *_round(armed), 0.25)


@pytest.mark.parametrize(
    ("floor", "tied", "sole", "others"), [(0, 0.5, 1, 0), (0.3, 0.425, 0.8, 1)]
)
def test_propensities_of_certain_rules_are_exact(floor, tied, sole, others):
    """floor / K, and 1 - floor shared by the best: here two of four, or one of three."""
    prior = GaussianHierarchy(
        hyper_mean=[1.0, 0.0], hyper_cov=np.eye(2), task_cov=np.eye(2), noise_std=1.0
    )
    arms = [[[1.0, 0], [0.5, 0], [1.0, 0], [-1.0, 0]], [[-0.1, 0], [0.3, 0], [0.2, 0]]]
    rng, low = np.random.default_rng(0), (floor / 4, floor / 3)
    expected = {(0, 0): tied, (0, 2): tied, (1, 1): sole}
    for rule in (greedy, Ucb(0.0)):
        policy, seen = Policy(Belief(prior, 2), rule), set()
        for _ in range(400):
            choices, propensities = policy.act_with_propensities(rng, [0, 1], arms, floor=floor)
            for event, (arm, share) in enumerate(zip(choices, propensities, strict=True)):
                seen.add((event, int(arm)))
                assert share == pytest.approx(expected.get((event, int(arm)), low[event]))
        assert len(seen) == 3 + 4 * others


@every
@both
def test_a_forced_choice_is_certain_with_any_floor(name, armed):
    policy = small_policy(name, armed)
    if policy.forced is None:
        policy.forced = ForcedStart(np.zeros(99, np.int32))
    rng, arms = np.random.default_rng(0), None if armed else ARMS
    turns = [policy.act_with_propensities(rng, [0, 0], arms, floor=0.5) for _ in range(9)]
    choices, shares = np.array(turns).transpose(1, 0, 2).reshape(2, -1)
    assert len(set(choices[:D])) == D
    assert (shares[:D] == 1.0).all()
    assert (shares[D:] < 1.0).any()


@both
def test_an_empty_round_has_no_propensities(armed):
    for name in ("HierTS", "HierUCB", "HierGreedy"):
        policy, arms = small_policy(name, armed), None if armed else ARMS
        for part in policy.act_with_propensities(np.random.default_rng(0), [], arms, floor=0.1):
            assert part.shape == (0,)
