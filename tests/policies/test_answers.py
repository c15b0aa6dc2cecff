"""Rules of one's own: what they answer is checked before anything is learned from it."""

from dataclasses import dataclass

import numpy as np
import pytest
from support.agents import ARMED, LINEAR, Clock, state

from hierbandits import Agent, Recipe
from hierbandits.models.variants import as_given
from hierbandits.policies.policy import Policy

ARMS = np.array([[1.0, 0.5], [0.3, 0.8], [0.2, 0.1]])
WRONG = [
    ([0], r"integers of shape \(2,\)"),
    ([[0, 1]], r"integers of shape \(2,\)"),
    ([0.0, 1.0], "got float64"),
    ([np.nan, 0], "got float64"),
    ([True, False], "got bool"),
    (None, "got object"),
    ([[0], [1, 2]], "got object"),
    ([0, 3], "got 3 for event 1"),
    ([-1, 0], "got -1 for event 0"),
    ([0, 1], r"got 1 for event 1, which may play \[0, 2\]"),
]


@dataclass(frozen=True)
class Stubborn:
    """Answers what it was told to."""

    choices: object
    share: object = 1.0

    def __call__(self, view, rng, nodes, arms, /):
        rng.random()
        return self.choices

    def odds(self, view, rng, nodes, arms, /, *, draws):
        rng.random()
        return Told(self.choices, self.share)


@dataclass(frozen=True)
class Told:
    choices: object
    share: object

    def of(self, played):
        return self.share


class StubbornOne(Stubborn):
    def _raw_one(self, view, /):
        raise AssertionError("rules of one's own are not asked")


def _policy(rule):
    return Recipe(as_given, rule, "stubborn")(LINEAR, 3)


@pytest.mark.parametrize(("choices", "message"), WRONG)
def test_choices_are_numbers_of_arms_that_may_be_played(choices, message):
    policy, rng = _policy(Stubborn(choices)), np.random.default_rng(0)
    eligible = [[True, True, True], [True, False, True]]
    with pytest.raises(ValueError, match=rf"rule Stubborn\(.* must choose .*{message}"):
        policy.act(rng, [0, 1], ARMS, eligible)
    with pytest.raises(ValueError, match=message):
        policy.act_with_propensities(rng, [0, 1], ARMS, eligible)


def test_right_answers_pass_as_integers_of_any_kind():
    rng, eligible = np.random.default_rng(0), [[True, True, True], [True, False, True]]
    for choices in ([1, 2], np.array([1, 2], np.uint8), (1, 2)):
        policy = _policy(Stubborn(choices, np.array([0.5, 1.0])))
        assert policy.act(rng, [0, 1], ARMS, eligible).tolist() == [1, 2]
        made, shares = policy.act_with_propensities(rng, [0, 1], ARMS, eligible)
        assert (made.tolist(), shares.tolist()) == ([1, 2], [0.5, 1.0])


@pytest.mark.parametrize("share", [[0.5], [0.5, 1.5], [-0.1, 0.5], [np.nan, 0.5], ["a", "b"]])
def test_odds_are_probabilities(share):
    with pytest.raises(ValueError, match=r"rule Stubborn\(.* must give odds"):
        _policy(Stubborn([0, 0], share)).act_with_propensities(
            np.random.default_rng(0), [0, 1], ARMS
        )


@pytest.mark.parametrize("rule", [Stubborn([5]), Stubborn([0.0]), StubbornOne([5])])
def test_single_decisions_are_checked_and_change_nothing(rule):
    agent = Agent(ARMED, Recipe(as_given, rule, "stubborn", forced=False), seed=0, clock=Clock())
    agent.learn(["t"], [0], [1.0])
    before = state(agent)
    with pytest.raises(ValueError, match="must choose"):
        agent.decide("t")
    assert state(agent) == before


def test_built_in_rules_are_trusted_and_others_are_not():
    assert _policy(Stubborn([0])).answers_fit is False
    for name in ("HierTS", "HierUCB", "HierGreedy"):
        agent = Agent(ARMED, name)
        assert isinstance(agent._state.policy, Policy)
        assert agent._state.policy.answers_fit


def test_a_rule_may_keep_the_array_that_it_answers_with():
    kept = np.array([2, 2])
    policy = Recipe(as_given, lambda *_: kept, "kept", forced=True)(LINEAR, 3)
    assert policy.act(np.random.default_rng(0), [0, 1], ARMS).tolist() != [2, 2]
    assert kept.tolist() == [2, 2]
