"""Ids say where a decision is; those of clients are theirs."""

import pytest

from hierbandits.service.api_problem import Problem
from hierbandits.service.decision_ids import LONGEST, DecisionIds

IDS = DecisionIds(bytes(range(16)))


@pytest.mark.parametrize("place", [(1, 0), (16, 9_999), (2**40, 17)])
def test_an_id_says_where_its_decision_is(place):
    assert IDS.place_of(IDS.make(*place)) == place


def test_ids_of_another_policy_are_no_places_of_this_one():
    other = DecisionIds(bytes(range(1, 17)))
    assert IDS.place_of(other.make(5, 0)) is None
    IDS.check_given(other.make(5, 0))  # a client may use it as an id of its own


@pytest.mark.parametrize("id", ["order-17", "Köln ☕", "a" * LONGEST, "1.2.3", "ÿ"])
def test_a_client_may_give_printable_ids(id):
    IDS.check_given(id)
    assert IDS.place_of(id) is None


@pytest.mark.parametrize("id", ["", "a" * (LONGEST + 1), "a\nb", "a\u0000", "\u202e", "\ud800"])
def test_other_ids_are_refused(id):
    with pytest.raises(Problem, match="id must be 1 to 200 printable characters"):
        IDS.check_given(id)


def test_a_client_may_not_give_an_id_of_the_services_form():
    with pytest.raises(Problem, match="form that the service makes"):
        IDS.check_given(IDS.make(77, 0))
