"""What people look at of a policy, as workers that share it tell it and as one process does."""

import json

import pytest
from support.local_services import LocalService
from support.shared_stores import SETTINGS

from hierbandits.service.shared_service import SharedService

SHOP = json.loads(SETTINGS["armed"].to_json()) | {"control_share": 0.3, "control_arm": "a"}
TASKS = ["Ann", "bob", 7, 'say "hi"', "ann\u0000", "\\", "bob", "ÉCLAIR"]


@pytest.fixture(params=["alone", "shared"])
def served(request, store_url, tmp_path):
    """A service alone, twice, or two workers, of one policy."""
    if request.param == "alone":
        with LocalService(tmp_path / "alone") as one:
            one.request("PUT", "/policies/shop", json=SHOP)
            yield one, one
        return
    options = {"kind": SharedService, "store": store_url}
    with LocalService(tmp_path, **options) as one, LocalService(tmp_path, **options) as two:
        one.request("PUT", "/policies/shop", json=SHOP)
        yield one, two


def get(local, path, **options):
    reply = local.request("GET", f"/policies/shop/{path}", **options)
    assert reply.is_success, reply.text
    return reply.json()


def post(local, path, **body):
    return local.request("POST", f"/policies/shop/{path}", json=body).json()


def decide(local, tasks=TASKS):
    return [post(local, "decisions", task=task)["id"] for task in tasks]


def test_the_latest_decisions_come_first_with_their_rewards(served):
    one, two = served
    ids = decide(one)
    post(two, f"decisions/{ids[5]}/reward", value=0.5)
    found = get(two, "recent?limit=3")["decisions"]
    assert [row["id"] for row in found] == ids[:-4:-1]
    assert [row["reward"] for row in found] == [None, None, 0.5]
    assert [row["label"] for row in found] == ["ÉCLAIR", "bob", "\\"]
    names = {"id", "task", "arm", "propensity", "time", "gap", "expected", "label", "key", "arms"}
    assert found[0].keys() == names | {"group", "version", "reward", "provisional"}
    assert get(two, "recent?limit=0")["decisions"] == []
    assert one.request("GET", "/policies/shop/recent?limit=-1").status_code == 400


def test_whoever_has_it_already_is_told_just_that(served):
    one, two = served
    decide(one)
    replies = {}
    for path in ("history", "recent", "population"):
        replies[path] = two.request("GET", f"/policies/shop/{path}")
        mark = {"if-none-match": replies[path].headers["etag"]}
        again = two.request("GET", f"/policies/shop/{path}", headers=mark)
        assert (again.status_code, again.content) == (304, b"")
    (id,) = decide(two, ["new"])
    post(one, f"decisions/{id}/reward", value=2.0)
    for path, before in replies.items():
        mark = {"if-none-match": before.headers["etag"]}
        assert one.request("GET", f"/policies/shop/{path}", headers=mark).status_code == 200


def test_a_history_counts_what_any_worker_did(served):
    one, two = served
    ids = decide(one)
    for id in ids[:5]:
        post(two, f"decisions/{id}/reward", value=1.0)
    counts = get(two, "history")["counts"]
    assert (counts["decisions"], counts["rewarded"], counts["old"]) == (8, 5, 0)
    assert two.request("DELETE", "/policies/shop/tasks/bob").status_code == 200
    for local in (one, two):
        found = get(local, "history")
        assert (found["counts"]["decisions"], found["waiting"]) == (6, 2)
        groups = [row for bucket in found["curve"] for row in bucket["groups"].items()]
        assert {name for name, _ in groups} <= {"policy", "control"}
        assert sum(row[0] for _, row in groups) == 6


def test_tasks_are_searched_sorted_and_detailed(served):
    one, two = served
    ids = decide(one)
    for id in (ids[1], ids[6], ids[2]):
        post(two, f"decisions/{id}/reward", value=1.0)
    names = ["Ann", "bob", 7, 'say "hi"', "ann\u0000", "\\", "ÉCLAIR"]
    assert get(two, "tasks") == {"total": 7, "tasks": names}
    assert get(two, "tasks?sort=newest&limit=2&offset=1")["tasks"] == ["\\", "ann\u0000"]
    assert get(two, "tasks?sort=decisions&limit=2") == {"total": 7, "tasks": ["bob", "Ann"]}
    for search, found in {
        "AN": ["Ann", "ann\u0000"], '"': ['say "hi"'], "\\": ["\\"], "7": [7], "ÉCLAIR": ["ÉCLAIR"],
        "%": [], "z": [],
    }.items():  # fmt: skip
        page = get(two, "tasks", params={"search": search, "sort": "decisions"})
        assert page == {"total": len(found), "tasks": found}, search
    rows = get(two, "tasks?detail=true&sort=decisions")["rows"]
    assert [(row["label"], row["decisions"], row["rewards"]) for row in rows[:3]] == [
        ("bob", 2, 2), ("Ann", 1, 0), ("7", 1, 1),
    ]  # fmt: skip
    assert rows[0]["low"] < rows[0]["mean"] < rows[0]["high"]
    assert len(get(two, "tasks?detail=true&limit=1000")["rows"]) == 7
    assert get(two, "tasks?search=none&detail=true") == {"total": 0, "tasks": [], "rows": []}
    assert two.request("GET", "/policies/shop/tasks?sort=best").status_code == 400
    assert get(two, "tasks/bob")["decisions"] == 2


def test_an_account_has_the_decision_and_its_reward(served):
    one, two = served
    id, *_ = decide(one)
    post(two, f"decisions/{id}/reward", value=1.0)
    told = get(two, f"decisions/{id}/account")
    assert (told["problem"], told["key"], told["label"]) == (None, '"Ann"', "Ann")
    assert (told["decision"]["id"], told["decision"]["reward"]) == (id, 1.0)
    assert told["why"]
    assert two.request("GET", "/policies/shop/decisions/none/account").status_code == 404


def test_workers_say_what_they_cannot_tell_of_a_decision(store_url, tmp_path):
    with LocalService(tmp_path, kind=SharedService, store=store_url) as local:
        local.request("PUT", "/policies/shop", json=SHOP | {"control_share": 0.0})
        made = post(local, "decisions", task="t")
        local.request("PUT", "/policies/shop", json=SHOP | {"floor": 0.5})
        told = get(local, f"decisions/{made['id']}/account")
        assert f"chose “{made['arm']}”, one of 3 arms" in told["why"][0]
        assert f"{100 * made['propensity']:.3g} %" in told["why"][0]
        assert "cannot be made once more" in told["why"][-1]
        assert (told["arms"], told["decision"]["policy_version"]) == ([], 1)
