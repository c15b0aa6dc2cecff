"""What rules may give, and rules of one's own."""

from dataclasses import dataclass

import numpy as np
import pytest
from support.policies import D, small_prior

from hierbandits import Belief, Policy, Recipe
from hierbandits.models.variants import as_given
from hierbandits.policies.odds import BestOdds
from hierbandits.policies.rule import frozen_of, odds_of
from hierbandits.policies.thompson_rule import Thompson


def first_arm(view, rng, nodes, arms, /):
    return arms.numbers(np.zeros(nodes.size, np.intp))


@dataclass(frozen=True)
class LastArm:
    """A rule of one's own that says how probable its choices are."""

    def __call__(self, view, rng, nodes, arms, /):
        return self.odds(view, rng, nodes, arms, draws=1).choices

    def odds(self, view, rng, nodes, arms, /, *, draws):
        return BestOdds.of_scores(arms.flat_rows().astype(float), arms, rng)


def test_a_function_is_a_rule_without_propensities():
    policy = Recipe(as_given, first_arm, "first")(small_prior(True), 2)
    rng = np.random.default_rng(0)
    assert policy.act(rng, [0, 1]).tolist() == [0, 0]
    assert policy.act(rng, [0, 1], None, [False, True, True]).tolist() == [1, 1]
    with pytest.raises(ValueError, match="method odds to give propensities, got <function first_"):
        policy.act_with_propensities(rng, [0, 1])
    with pytest.raises(ValueError, match="method frozen to give fixed probabilities, got <func"):
        frozen_of(first_arm)


def test_a_rule_that_says_how_gives_propensities():
    policy, rng = Policy(Belief(small_prior(True), 2), LastArm()), np.random.default_rng(0)
    choices, shares = policy.act_with_propensities(rng, [0, 1])
    assert (choices.tolist(), shares.tolist()) == ([D - 1, D - 1], [1.0, 1.0])
    turns = [policy.act_with_propensities(rng, [0], floor=0.6) for _ in range(200)]
    assert {(int(c[0]), round(float(p[0]), 9)) for c, p in turns} == {(0, 0.2), (1, 0.2), (2, 0.6)}


def test_rules_are_values():
    assert Thompson() == Thompson(fresh=False) != Thompson(fresh=True)
    rule = Thompson()
    assert odds_of(rule) == rule.odds
    assert repr(Thompson(fresh=True)) == "Thompson(fresh=True, scale=1.0)"
