"""Policies over HTTP as workers serve them that share a store: as one process would."""

import io
import json

import polars as pl
import pytest
from support.local_services import LocalService
from support.shared_stores import OF_FAMILIES, SETTINGS

import hierbandits as hb
from hierbandits.logs import Columns
from hierbandits.service.shared_service import SharedService

SHOP = json.loads(SETTINGS["armed"].to_json())


@pytest.fixture
def workers(store_url, tmp_path):
    options = {"kind": SharedService, "store": store_url}
    with LocalService(tmp_path, **options) as one, LocalService(tmp_path, **options) as two:
        assert put(one, "shop", SHOP) == {"name": "shop", "version": 1, "created": True}
        yield one, two


def put(local, name, settings):
    return local.request("PUT", f"/policies/{name}", json=settings).json()


def get(local, path):
    return local.request("GET", path).json()


def post(local, path, **body):
    return local.request("POST", f"/policies/shop/{path}", json=body)


def flags(local, path=""):
    body = {"context": {"targetingKey": "t"}}
    return local.request("POST", f"/ofrep/v1/evaluate/flags{path}", json=body).json()


def test_any_worker_decides_rewards_and_shows(workers):
    one, two = workers
    made = post(one, "decisions", task="t", id="mine").json()
    assert made["arm"] in "abc"
    assert 0 < made["propensity"] <= 1
    again = post(two, "decisions", task="t", id="mine").json()
    assert again == made | {"duplicate": True}
    assert post(two, "decisions/mine/reward", value=1.0).json() == {
        "id": "mine",
        "status": "learned",
    }
    assert post(one, "decisions/mine/reward", value=1.0).json()["status"] == "duplicate"
    conflict = post(one, "decisions/mine/reward", value=2.0)
    assert (conflict.status_code, conflict.json()["code"]) == (409, "conflict")
    corrected = two.request("PUT", "/policies/shop/decisions/mine/reward", json={"value": 2.0})
    assert corrected.json()["status"] == "corrected"
    shown = get(one, "/policies/shop/decisions/mine")
    assert (shown["task"], shown["arm"], shown["reward"]) == ("t", made["arm"], 2.0)
    assert post(one, "decisions/none/reward", value=1.0).status_code == 404
    assert one.request("GET", "/policies/none").status_code == 404


def test_rounds_and_many_rewards_have_an_answer_for_each_part(workers):
    one, two = workers
    wanted = [{"task": f"t{i}", "id": f"d{i}"} for i in range(5)] + [{"task": "t", "arms": ["no"]}]
    made = post(one, "rounds", decisions=wanted).json()["decisions"]
    assert [part.get("status") for part in made] == [None] * 5 + [400]
    given = [{"id": f"d{i}", "value": 0.5} for i in range(6)]
    told = post(two, "rewards", rewards=given).json()["rewards"]
    assert [part["status"] for part in told] == ["learned"] * 5 + [404]
    shown = get(two, "/policies/shop")
    counts = [shown[name] for name in ("tasks", "events", "rewards", "pending")]
    assert counts == [5, 5, 5, 0]
    assert (shown["version"], shown["arms"]) == (1, ["a", "b", "c"])
    assert [each["name"] for each in get(one, "/policies")] == ["shop"]


def test_beliefs_are_those_of_a_service_of_one_process(workers, tmp_path):
    one, two = workers
    post(one, "rounds", decisions=[{"task": f"t{i % 3}", "id": f"d{i}"} for i in range(9)])
    post(two, "rewards", rewards=[{"id": f"d{i}", "value": i / 4} for i in range(9)])
    live = one.service.book.turns("shop").live
    one.service.book.folder(live).fold()
    with LocalService(tmp_path / "alone") as alone:
        put(alone, "shop", SHOP)
        for i in range(9):
            arm = get(one, f"/policies/shop/decisions/d{i}")["arm"]
            post(alone, "decisions", task=f"t{i % 3}", id=f"d{i}", arms=[arm])
            post(alone, f"decisions/d{i}/reward", value=i / 4)
        for path in ("tasks/t1", "population"):
            known, other = (get(each, f"/policies/shop/{path}") for each in (two, alone))
            for row, its in zip(known["rows"], other["rows"], strict=True):
                assert row.keys() == its.keys()
                for name in ("mean", "low", "high", "within_var", "shared_var"):
                    assert row[name] == pytest.approx(its[name], abs=1e-9)
            assert {name for name in other if name not in known} == set()
            assert known.get("tasks_looked_at") == other.get("tasks_looked_at")
    belief = get(two, "/policies/shop/tasks/t1")
    assert belief["decisions"] == 3
    assert sum(row["rewards"] for row in belief["rows"]) == 3


def test_tasks_are_listed_and_deleted(workers):
    one, two = workers
    for task in ("Ann", "bob", 7):
        post(one, "decisions", task=task, id=f"of {task}")
    post(one, "decisions/of bob/reward", value=1.0)
    assert get(two, "/policies/shop/tasks") == {"total": 3, "tasks": ["Ann", "bob", 7]}
    assert get(two, "/policies/shop/tasks?sort=newest&limit=2")["tasks"] == [7, "bob"]
    assert get(two, "/policies/shop/tasks?search=AN&offset=0") == {"total": 1, "tasks": ["Ann"]}
    assert two.request("GET", "/policies/shop/tasks?sort=best").status_code == 400
    assert two.request("DELETE", "/policies/shop/tasks/bob").json() == {"events_changed": 1}
    assert two.request("DELETE", "/policies/shop/tasks/bob").status_code == 404
    assert one.request("GET", "/policies/shop/decisions/of bob").status_code == 404
    assert get(one, "/policies/shop/tasks/7")["decisions"] == 1
    assert one.request("GET", "/policies/shop/tasks/bob").status_code == 404


def test_the_log_can_be_learned_from(workers, tmp_path):
    one, two = workers
    post(one, "rounds", decisions=[{"task": f"t{i % 4}", "id": f"d{i}"} for i in range(40)])
    post(two, "rewards", rewards=[{"id": f"d{i}", "value": i / 4} for i in range(30)])
    data = two.request("GET", "/policies/shop/log").content
    frame = pl.read_parquet(io.BytesIO(data))
    assert (len(frame), frame["reward"].sum()) == (30, sum(range(30)) / 4)
    every = two.request("GET", "/policies/shop/log?every=true").content
    assert len(pl.read_parquet(io.BytesIO(every))) == 40
    (tmp_path / "log.parquet").write_bytes(data)
    columns = Columns(task="task", arm="arm", reward="reward", propensity="propensity")
    log = hb.Log.read(str(tmp_path / "log.parquet"), columns)
    assert log.sums().sums.n.sum() == 30
    assert two.request("GET", "/policies/shop/log?every=x").status_code == 400


def test_versions_and_deletion_are_seen_by_the_other_worker(workers):
    one, two = workers
    assert put(one, "shop", SHOP | {"floor": 0.5})["version"] == 2
    assert post(two, "decisions", task="t").json()["version"] == 2
    versions = get(two, "/policies/shop/versions")
    assert [each["settings"]["floor"] for each in versions] == [None, 0.5]
    assert put(two, "shop", SHOP | {"arms": ["a"]})["status"] == 400
    assert put(two, "new", SHOP | {"sticky": True})["code"] == "bad_request"
    assert two.request("DELETE", "/policies/shop").status_code == 204
    assert post(one, "decisions", task="t").status_code == 404


@pytest.mark.parametrize(
    "what", ["decide", "round", "flag", "flags", "reward", "rewards", "rollout", "show"]
)
def test_a_policy_that_was_made_anew_is_known_to_all_workers_at_once(workers, what):
    one, two = workers
    for worker in workers:
        assert post(worker, "decisions", task="t").status_code == 200
    assert one.request("DELETE", "/policies/shop").status_code == 204
    assert put(one, "shop", SHOP | {"control_arm": "a"})["created"]
    id = post(one, "decisions", task="t").json()["id"]
    steps, round = {"action": "start", "steps": [{"share": 1}]}, {"decisions": [{"task": "t"}]}
    told = {
        "decide": lambda: post(two, "decisions", task="t").json()["version"],
        "round": lambda: [
            one["version"] for one in post(two, "rounds", **round).json()["decisions"]
        ],
        "flag": lambda: flags(two, "/shop")["metadata"]["version"],
        "flags": lambda: [one["metadata"]["version"] for one in flags(two)["flags"]],
        "reward": lambda: post(two, f"decisions/{id}/reward", value=1.0).json()["status"],
        "rewards": lambda: post(two, "rewards", rewards=[{"id": id, "value": 1.0}]).json(),
        "rollout": lambda: post(two, "rollout", **steps).json()["phase"],
        "show": lambda: get(two, "/policies/shop")["version"],
    }[what]()
    learned = {"rewards": [{"id": id, "status": "learned"}]}
    expected = {
        "round": [1],
        "flags": [1],
        "reward": "learned",
        "rewards": learned,
        "rollout": "done",
    }
    assert told == expected.get(what, 1)


def test_arms_are_added_and_retired_by_any_worker(workers):
    one, two = workers
    shown = post(one, "arms", name="d", hyper_mean=5.0).json()
    assert (shown["arms"], shown["version"]) == (["a", "b", "c", "d"], 2)
    assert post(two, "decisions", task="t", arms=["d"], id="new").json()["arm"] == "d"
    gone = two.request("DELETE", "/policies/shop/arms/d").json()
    assert (gone["arms"], gone["version"]) == (["a", "b", "c"], 3)
    assert post(one, "decisions", task="t", arms=["d"]).status_code == 400
    assert post(one, "decisions/new/reward", value=1.0).json()["status"] == "learned"
    assert two.request("DELETE", "/policies/shop/arms/d").status_code == 400
    again = post(two, "arms", name="d")
    assert (again.status_code, again.json()["code"]) == (400, "bad_request")
    assert "name must be of a new arm, got 'd'" in again.json()["detail"]
    assert one.request("DELETE", "/policies/none/arms/a").status_code == 404
    rows = get(one, "/policies/shop/tasks/t")["rows"]
    assert sum(row["rewards"] for row in rows) == 1
    versions = get(two, "/policies/shop/versions")
    assert [each["settings"]["arms"] for each in versions] == [["a", "b", "c"]] * 3


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/backup", None),
        ("GET", "/policies/shop/promotion", None),
        ("POST", "/policies/shop/promotion", {"step": "drop"}),
    ],
)
def test_what_workers_do_not_share_is_said_to_be_so(workers, method, path, body):
    answer = workers[0].request(method, path, **({} if body is None else {"json": body}))
    assert (answer.status_code, answer.json()["code"]) == (501, "not_shared")


def test_flags_are_evaluated(workers):
    body = {"context": {"targetingKey": "t"}}
    flag = workers[0].request("POST", "/ofrep/v1/evaluate/flags/shop", json=body).json()
    assert flag["value"] in "abc"
    assert (
        workers[1].request("GET", f"/policies/shop/decisions/{flag['metadata']['id']}").is_success
    )


def test_a_reward_of_a_task_that_is_deleted_meanwhile_is_of_no_decision(workers, monkeypatch):
    one, two = workers
    post(one, "decisions", task="t", id="d")
    live = one.service.book.turns("shop").live
    locked = live.tasks.locked

    def late(db, keys):
        monkeypatch.undo()
        assert two.request("DELETE", "/policies/shop/tasks/t").status_code == 200
        return locked(db, keys)

    monkeypatch.setattr(live.tasks, "locked", late)
    assert post(one, "decisions/d/reward", value=1.0).status_code == 404
    for table in ("shared_rewards", "shared_tasks"):
        assert live._links.read(f"SELECT * FROM {table}") == []


def test_clicks_are_answered_as_rewards_are(workers):
    one, two = workers
    clicks = json.loads(OF_FAMILIES["clicks"].to_json())
    assert put(one, "clicks", clicks)["created"]
    made = one.request("POST", "/policies/clicks/decisions", json={"task": "t", "id": "c"}).json()
    assert 0 <= made["gap"] <= 1
    path = "/policies/clicks/decisions/c/reward"
    refused = two.request("POST", path, json={"value": 2.0})
    assert refused.status_code == 400
    assert "value must be 0 or 1" in refused.json()["detail"]
    assert two.request("POST", path, json={"value": 1.0}).json()["status"] == "learned"
    rows = get(one, "/policies/clicks/tasks/t")["rows"]
    assert sum(row["rewards"] for row in rows) == 1
    assert all(0 < row["low"] < row["mean"] < row["high"] < 1 for row in rows)
    assert all(0 < row["mean"] < 1 for row in get(two, "/policies/clicks/population")["rows"])
    more = {"arms": ["a", "b"], "rewards": "bernoulli"}
    assert put(two, "more", more)["created"]  # widths are learned
    wrong = two.request("PUT", "/policies/wrong", json=more | {"sticky": True})
    assert wrong.status_code == 400
    assert "sticky must be False where workers share a policy" in wrong.json()["detail"]
