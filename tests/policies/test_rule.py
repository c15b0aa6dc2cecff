"""What rules may give, and rules of one's own."""

from dataclasses import dataclass

import numpy as np
import pytest
from support.policies import D, small_prior
from support.rules import rewarded_belief

from hierbandits import Arms, Belief, Policy, Recipe
from hierbandits.models.variants import as_given
from hierbandits.policies import BeliefView, Greedy, Ids, Ucb
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


@pytest.mark.parametrize("armed", [False, True])
@pytest.mark.parametrize("rule", [Thompson(), Thompson(scale=0.5), Greedy(), Ucb(1.0), Ids(4)])
def test_rules_refuse_what_does_not_fit_the_view(rule, armed):
    """Rules are public, and kernels would take nodes and arms on trust."""
    view, rng = BeliefView(rewarded_belief(armed)), np.random.default_rng(0)

    def arms(events, dim):
        return Arms.of(None if armed else np.ones((2, dim)), events, dim, armed=armed)

    right, nodes = arms(2, 3), np.array([0, 1])
    assert rule(view, rng, nodes, right).shape == (2,)
    for wrong_nodes, wrong_arms, message in (
        (np.array([0, 10**6]), right, "nodes must be in"),
        (np.array([-1, 0]), right, "nodes must be in"),
        (nodes, arms(3, 3), "arms must be Arms of 2 events"),
        (nodes, arms(2, 5), "arms must (be in|have 3 features)"),
        (nodes, Arms.of(np.ones((2, 3)), 2, 3, armed=False) if armed else arms(1, 3), "arms must"),
        (nodes, np.ones((2, 3)), "arms must be Arms of 2 events"),
    ):
        for ask in (rule, lambda *given: rule.odds(*given, draws=3)):
            with pytest.raises(ValueError, match=message):
                ask(view, rng, wrong_nodes, wrong_arms)
    for ask in (rule, lambda *given: rule.odds(*given, draws=3)):
        with pytest.raises(ValueError, match="rng must be a numpy Generator, got None"):
            ask(view, None, nodes, right)
