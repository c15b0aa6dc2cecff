"""Arms in every form in which a person may offer them, and what is refused."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, LINEAR

from hierbandits import Agent
from hierbandits.agent.catalogue import Catalogue, Offer


def test_arms_in_every_form():
    agent = Agent(LINEAR, seed=0, arms=ARMS)
    assert agent.decide("t").arm in ARMS
    assert agent.decide("t", ["high"]).arm == "high"
    assert agent.decide("t", np.array([[1.0, 2.0]])).arm == 0
    assert agent.decide("t", [[1, 2], [3, 4]]).arm in (0, 1)
    assert agent.decide("t", {"only": [1, 2]}).arm == "only"
    assert agent.decide("t", np.eye(2), eligible=[False, True]).arm == 1
    numbered = Agent(LINEAR, seed=0, arms=np.eye(2))
    assert numbered.decide("t", [1]).arm == 1
    armed = Agent(ARMED, seed=0)
    assert armed.decide("t").arm in (0, 1, 2)
    assert armed.decide("t", [2]).features == 2
    named = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    decision = named.decide("t", ["c"])
    assert (decision.arm, decision.features) == ("c", 2)


def test_a_round_takes_one_offer_or_one_for_each_task():
    agent = Agent(LINEAR, seed=0, arms=ARMS)
    assert [d.arm for d in agent.decide_many(["a", "b"], ["mid"])] == ["mid", "mid"]
    each = agent.decide_many(["a", "b", "c", 4], [["low"], ["mid", "high"], None, {"new": [1, 1]}])
    assert each[0].arm == "low"
    assert each[1].arm in ("mid", "high")
    assert each[2].arm in ARMS
    assert (each[3].arm, each[3].task) == ("new", 4)
    ragged = agent.decide_many(["a", "b"], [np.eye(2)[:1], np.eye(2)])
    assert ragged[0].arm == 0
    assert agent.decide_many([], ARMS) == []
    with pytest.raises(ValueError, match="one set for each task, got 1"):
        agent.decide_many(["a", "b"], [ARMS])
    armed = Agent(ARMED, seed=0, arms=["a", "b", "c"])
    assert [d.arm for d in armed.decide_many([1, 2], [["a"], ["c"]])] == ["a", "c"]


def test_the_agents_own_arms_are_a_copy():
    arms = np.array([[1.0, 2.0]])
    agent = Agent(LINEAR, seed=0, arms=arms)
    arms[:] = 9.0
    assert agent.decide("t").features == (1.0, 2.0)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (5, "arms must be several arms, got 5"),
        ("abc", "arms must be several arms, got 'abc'"),
        ((name for name in "abc"), "arms must be several arms, got <generator"),
        ([], "arms must hold at least one arm"),
        ({}, "arms must hold at least one arm"),
        ([1.5, 2.5], "arms must be named by strings or integers, got 1.5"),
    ],
)
def test_arms_that_tell_no_form_are_refused(arms, message):
    with pytest.raises(ValueError, match=message):
        Agent(arms=arms)


def test_features_that_are_too_large_are_refused():
    agent = Agent(num_features=1)
    for arms in ([[1.0], [2e60]], np.array([[1.0], [2e60]]), {"a": [1.0], "b": [2e60]}):
        with pytest.raises(ValueError, match=r"arms must be finite and at most 1e\+60"):
            agent.decide("store", arms)
    assert agent.tasks == []


def test_an_offer_keeps_the_order_that_is_asked_for():
    offer = Offer(np.array([[1.0], [2.0], [3.0]]), ("a", "b", 7))
    part = offer.named([np.int64(7), "a"])
    assert (part.table.tolist(), part.names) == ([[3.0], [1.0]], (7, "a"))
    for names, message in (
        ("ab", "arms must be several names or indices, got 'ab'"),
        (["c"], r"arms must be arms of this agent \('a', 'b', 7, \.\.\.\), got 'c'"),
        (["a", "a"], "arms must be distinct"),
        ([], "arms must be distinct, and at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            offer.named(names)


def test_arms_are_found_by_name_only_where_they_have_no_features():
    catalogue = Catalogue(["a", "b", "c"], 3, armed=True)
    assert catalogue.indices_of(["c", "a"]).tolist() == [2, 0]
    with pytest.raises(ValueError, match="arms must not be named where they have features"):
        Catalogue(ARMS, 2, armed=False).indices_of(["low"])


def test_masks_and_names_go_together():
    catalogue = Catalogue(ARMS, 2, armed=False)
    masks = [[True, False, True], [False, True, False]]
    arms, names, playable = catalogue.offered(None, 2, masks)
    assert names == [("low", "mid", "high")] * 2
    assert playable == [("low", "high"), ("mid",)]
    assert arms.sizes.tolist() == [2, 1]
    assert arms.features(np.array([2, 1])).tolist() == [ARMS["high"], ARMS["mid"]]


def test_arms_are_added_and_retired_and_keep_their_places():
    catalogue = Catalogue(["a", "b"], 2, armed=True)
    catalogue.add("c")
    catalogue.retire("a")
    assert catalogue.names == ("a", "b", "c")
    assert (catalogue.own.names, catalogue.own.table.tolist()) == (("b", "c"), [1, 2])
    assert catalogue.places_of(["a", "c", 1, np.int64(0), "a"]).tolist() == [0, 2, 1, 0, 0]
    assert catalogue.indices_of(["c", "a"]).tolist() == [2, 0]
    arms, _, playable = catalogue.offered(None, 1, [False, True])
    assert playable == [("c",)]
    assert arms.features(np.array([1])).tolist() == [2]
    with pytest.raises(ValueError, match="arms must not be retired, got 'a'"):
        catalogue.offered([["b"], ["a"]], 2, None)
    numbered = Catalogue([5, 7], 2, armed=True)
    assert numbered.places_of([7, 5]).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"must be arms of this agent \(5, 7, \.\.\.\), got 1"):
        numbered.places_of([1])  # a number is a name here
