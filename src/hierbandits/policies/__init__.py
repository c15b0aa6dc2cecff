"""How to choose: arms, rules, and the named policies made of a belief and a rule."""

from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.greedy_rule import Greedy, greedy
from hierbandits.policies.ids_rule import Ids
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.policies.rule import Rule
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.policies.thompson_rule import Thompson, thompson
from hierbandits.policies.ucb_rule import Ucb, ucb_width

__all__ = [
    "POLICIES",
    "Arms",
    "BeliefView",
    "Greedy",
    "Ids",
    "Policy",
    "Recipe",
    "Rule",
    "SpanningArms",
    "Thompson",
    "Ucb",
    "greedy",
    "thompson",
    "ucb_width",
]
