"""How much a belief keeps of each node."""

import pytest
from support.agent_lives import PRIORS

from hierbandits import AdaptiveBelief, Belief, UnknownWidths
from hierbandits.beliefs.node_size import numbers_per_node

SIZES = {"armed": 6, "linear": 6, "deep": 6, "deep-armed": 4, "correlated": 12, "common": 12}


@pytest.mark.parametrize("form", list(PRIORS))
def test_a_node_has_as_many_numbers_as_its_form_needs(form):
    assert numbers_per_node(Belief(PRIORS[form])) == SIZES[form]


def test_arms_take_numbers_by_what_they_may_share():
    assert numbers_per_node(AdaptiveBelief(UnknownWidths.of(64, armed=True))) == 3 * 65
    assert numbers_per_node(AdaptiveBelief(UnknownWidths.of(16, armed=True))) == 17 * 16
    assert numbers_per_node(AdaptiveBelief(UnknownWidths.of(129, armed=True))) == 2 * 129
    assert numbers_per_node(AdaptiveBelief(UnknownWidths.of(10, armed=False))) == 110
