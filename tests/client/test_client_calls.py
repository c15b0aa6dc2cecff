"""The calls as requests: ids, paths, bodies, what may be repeated."""

import json

import numpy as np
import pytest

from hierbandits.client import Wanted, client_calls


def test_every_decision_has_an_id_of_its_own():
    bodies = [json.loads(client_calls.decide("shop", "t").body) for _ in range(2)]
    ids = {body["id"] for body in bodies}
    assert len(ids) == 2
    assert all(len(id) == 32 and int(id, 16) >= 0 for id in ids)
    many = json.loads(client_calls.decide_many("shop", ["a", "b"]).body)["decisions"]
    assert len({one["id"] for one in many}) == 2


def test_a_body_has_what_was_given_and_no_more():
    plain = json.loads(client_calls.decide("shop", ("region", 3), id="i").body)
    assert plain == {"task": ["region", 3], "id": "i"}
    full = client_calls.decide(
        "shop", "t", {"x": np.array([1.0, 2.0])}, id="i", best=True, context={"age": 3}, played="x"
    )
    assert json.loads(full.body) == {
        "task": "t", "id": "i", "arms": {"x": [1.0, 2.0]}, "best": True, "context": {"age": 3},
        "played": "x",
    }  # fmt: skip
    arm = client_calls.add_arm("shop", "z", task_std=np.float32(0.5))
    assert json.loads(arm.body) == {"name": "z", "task_std": 0.5}


def test_paths_keep_names_in_their_place():
    assert client_calls.task("a b", "../x").path == "/policies/a%20b/tasks/%22..%2Fx%22"
    assert client_calls.retire_arm("p", 5).path == "/policies/p/arms/5"
    assert client_calls.retire_arm("p", "5").path == "/policies/p/arms/%225%22"
    assert client_calls.reward("p", "a/b", 1.0).path == "/policies/p/decisions/a%2Fb/reward"


@pytest.mark.parametrize("name", ["", ".", "..", None, 5])
def test_a_name_that_would_be_another_path_is_refused(name):
    for call in (client_calls.policy, client_calls.delete_policy):
        with pytest.raises(ValueError, match="policy must be a name, got"):
            call(name)
    with pytest.raises(ValueError, match="id must be a name, got"):
        client_calls.reward("shop", name, 1.0)


def test_what_would_be_refused_the_second_time_is_not_repeatable():
    for request in (
        client_calls.delete_policy("p"), client_calls.delete_task("p", "t"),
        client_calls.add_arm("p", "z"), client_calls.retire_arm("p", "z"),
    ):  # fmt: skip
        assert not request.repeatable
    for request in (
        client_calls.decide("p", "t"), client_calls.reward("p", "i", 1.0),
        client_calls.correct("p", "i", 1.0), client_calls.put_policy("p", {}),
    ):  # fmt: skip
        assert request.repeatable


def test_a_wanted_decision_is_immutable():
    wanted = Wanted("t")
    with pytest.raises(AttributeError):
        wanted.task = "other"
