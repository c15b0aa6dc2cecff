import json

import pytest
from support.local_services import LocalService


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        assert put(local, "p", arms=["x", "y", 3]).status_code == 200
        yield local


def put(local, name, **settings):
    return local.request("PUT", f"/policies/{name}", json=settings)


def decide(local, task, policy="p"):
    return local.request("POST", f"/policies/{policy}/decisions", json={"task": task}).json()


def test_a_policy_is_made_once_and_then_has_versions(local):
    assert put(local, "q", arms=["x"]).json() == {"name": "q", "version": 1, "created": True}
    assert put(local, "q", arms=["x"]).json() == {"name": "q", "version": 1, "created": False}
    changed = put(local, "q", arms=["x"], floor=0.5)
    assert changed.json() == {"name": "q", "version": 2, "created": False}
    versions = local.request("GET", "/policies/q/versions").json()
    assert [(one["version"], one["settings"]["floor"]) for one in versions] == [(1, None), (2, 0.5)]


def test_policies_are_listed_and_shown(local):
    put(local, "q", arms=["x"])
    decide(local, "t")
    assert [one["name"] for one in local.request("GET", "/policies").json()] == ["p", "q"]
    shown = local.request("GET", "/policies/p").json()
    assert (shown["tasks"], shown["events"], shown["pending"]) == (1, 2, 1)
    assert shown["arms"] == ["x", "y", 3]


def test_a_deleted_policy_is_gone_and_its_name_is_free(local):
    decide(local, "t")
    assert local.request("DELETE", "/policies/p").status_code == 204
    assert local.request("GET", "/policies/p").status_code == 404
    assert put(local, "p", arms=["z"]).json()["created"]
    assert local.request("GET", "/policies/p").json()["tasks"] == 0


@pytest.mark.parametrize(
    "name", ["a b", "%2e%2e", "-x", "x" * 101, "ü", "a%00", "%FF", "a%0Ab", "%F0%9F%98%80"]
)
def test_odd_names_of_policies_are_refused(local, name):
    reply = put(local, name, arms=["x"])
    assert reply.status_code in (400, 404)
    assert [one["name"] for one in local.request("GET", "/policies").json()] == ["p"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"arms": []},
        {"arms": ["x", "x"]},
        {"arms": {"x": [1.0], "y": [1.0, 2.0]}},
        {"num_features": 0},
        {"num_features": 10**12},
        {"num_features": 100_000},
        {"arms": ["x"], "rule": "nope"},
        {"arms": ["x"], "rewards": "nope"},
        {"arms": ["x"], "draws": -1},
        {"arms": ["x"], "floor": 1.5},
        {"arms": ["x"], "reward_wait": 0.0},
        {"arms": ["x"], "default_reward": 1.0},
        {"arms": ["x"], "control_share": 0.1},
        {"arms": ["x"], "control_share": 0.1, "control_arm": "y"},
        {"arms": ["x"], "prior": {}},
        {"arms": ["x"], "prior": {"kind": "gaussian hierarchy"}},
        {"arms": ["x"], "encoder": {"a": 1}},
        {"arms": ["x"], "most_tasks": 0},
        {"arms": ["x"], "mode": "loud"},
        {"arms": ["x"], "odd": 1},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_and_nothing_is_made(local, settings):
    assert put(local, "q", **settings).status_code == 400
    assert local.request("GET", "/policies/q").status_code == 404
    assert put(local, "p", **settings).status_code == 400
    assert local.request("GET", "/policies/p").json()["version"] == 1


def test_settings_that_do_not_fit_the_log_are_refused(local):
    decide(local, "t")
    reply = put(local, "p", num_features=3)
    assert (reply.status_code, reply.json()["code"]) == (409, "log_does_not_fit")
    assert decide(local, "t")["version"] == 1


def test_arms_come_and_go(local):
    added = local.request("POST", "/policies/p/arms", json={"name": "z"})
    assert added.json()["arms"] == ["x", "y", 3, "z"]
    for arm in ("x", "3", "z"):
        assert local.request("DELETE", f"/policies/p/arms/{arm}").status_code == 200
    assert local.request("GET", "/policies/p").json()["arms"] == ["y"]
    assert decide(local, "t")["arm"] == "y"
    assert local.request("POST", "/policies/p/arms", json={"name": "y"}).status_code == 400


@pytest.mark.parametrize("arm", ["nope", "--5", "%C2%B2", "9" * 5000, "7", "-", "%D9%A3"])
def test_an_unknown_arm_cannot_be_retired(local, arm):
    assert local.request("DELETE", f"/policies/p/arms/{arm}").status_code == 400


@pytest.mark.parametrize("query", ["limit=x", "limit=-1", "offset=%C2%B2", "limit=" + "9" * 13])
def test_a_page_has_whole_numbers(local, query):
    assert local.request("GET", f"/policies/p/tasks?{query}").status_code == 400


def test_tasks_come_page_by_page(local):
    for task in ("a1", "a2", "b1", 7):
        decide(local, task)
    assert local.request("GET", "/policies/p/tasks").json()["total"] == 4
    page = local.request("GET", "/policies/p/tasks?search=a&limit=1&offset=1").json()
    assert page == {"total": 2, "tasks": ["a2"]}


@pytest.mark.parametrize("task", ["plain", "a/b", "ü \t", "", "7", 7, -3, 2**70, "null", "[1]"])
def test_any_task_is_shown_and_deleted_by_its_name(local, task):
    decide(local, task)
    decide(local, "other")
    name = task if task in ("plain", "a/b") else json.dumps(task)
    path = "/policies/p/tasks/" + "".join(f"%{byte:02X}" for byte in name.encode())
    assert local.request("GET", path).json()["task"] == task
    assert local.request("DELETE", path).json()["events_changed"] >= 1
    assert local.request("GET", path).status_code == 404
    assert local.request("DELETE", path).status_code == 404
    assert local.request("GET", "/policies/p/tasks/other").status_code == 200


def test_what_is_known_of_a_task_says_from_where(local):
    id = decide(local, "t")["id"]
    local.request("POST", f"/policies/p/decisions/{id}/reward", json={"value": 2.0})
    shown = local.request("GET", "/policies/p/tasks/t").json()
    assert (shown["task"], shown["decisions"], shown["confidence"]) == ("t", 1, 0.95)
    for row in shown["rows"]:
        assert row["low"] < row["mean"] < row["high"]
        assert row["within_var"] > 0
        assert row["shared_var"] > 0
    assert sum(row["rewards"] for row in shown["rows"]) == 1
