"""Policies as files over HTTP: between workers, and to and from a service that is alone."""

import json
from contextlib import ExitStack

import pytest
from support.local_services import LocalService
from support.shared_stores import SETTINGS

from hierbandits import Agent
from hierbandits.service.doctor import doctor
from hierbandits.service.shared_service import SharedService

SHOP = json.loads(SETTINGS["armed"].to_json()) | {"control_share": 0.5, "control_arm": "b"}


@pytest.fixture
def services(store_url, tmp_path):
    """Two workers, and two services that have their stores alone: a database, and a folder."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(LocalService(tmp_path / name, kind=kind, store=url))
            if kind is SharedService
            else stack.enter_context(LocalService(tmp_path / name, store=url))
            for name, kind, url in (
                ("one", SharedService, store_url),
                ("two", SharedService, store_url),
                ("alone", None, store_url),
                ("folder", None, None),
            )
        ]
    for place in ({"store": store_url}, {}):
        assert doctor(tmp_path / "folder", **place).faults == []


def post(local, path, **body):
    return local.request("POST", f"/policies/{path}", json=body).json()


def shown(local, policy, task):
    if isinstance(local.service, SharedService):  # other tasks' rewards may be a second old
        book, sql = local.service.book, "SELECT count(*) FROM shared_tasks WHERE dirty"
        while book.links.read(sql) != [(0,)]:
            book.folder(book.turns(policy).live).fold()
    rows = local.request("GET", f"/policies/{policy}/tasks/{task}").json()["rows"]
    return {row["arm"]: (row["mean"], row["high"], row["rewards"]) for row in rows}


def same(one, two):
    assert one.keys() == two.keys()
    for arm, numbers in one.items():
        assert numbers == pytest.approx(two[arm], abs=1e-9)


def live(local, policy, name, number):
    """Decisions of ids of both kinds, the last of which await their rewards."""
    made = [
        post(
            local,
            f"{policy}/decisions",
            task=f"t{i % 5}",
            **({"id": f"{name} {i}"} if i % 2 else {}),
        )
        for i in range(number)
    ]
    for i, one in enumerate(made[:-4]):
        told = post(local, f"{policy}/decisions/{one['id']}/reward", value=i / 7)
        assert told["status"] == "learned"
    return made


def groups(local, policy):
    """Why each of many tasks has its arm."""
    tasks = [{"task": f"u{i}"} for i in range(60)]
    made = post(local, f"{policy}/rounds", decisions=tasks)["decisions"]
    return [one.get("group", "policy") for one in made]


def test_a_policy_goes_round_all_kinds_of_services_and_loses_nothing(services):
    made, policy = [], "shop"
    services[0].request("PUT", f"/policies/{policy}", json=SHOP)
    held_out = groups(services[0], policy)
    for hop, (here, there) in enumerate([(0, 3), (3, 1), (1, 2), (2, 0), (0, 3)]):
        made += live(services[here], policy, f"of {hop}", 10)
        data = services[here].request("GET", f"/policies/{policy}/export")
        assert data.headers["content-type"] == "application/zip"
        answer = services[there].request(
            "POST", f"/policies/hop-{hop}/import", content=data.content
        )
        assert answer.json() == {"name": f"hop-{hop}", "version": 1, "created": True}
        same(*(shown(services[a], p, "t1") for a, p in ((here, policy), (there, f"hop-{hop}"))))
        policy = f"hop-{hop}"
        for one in made:
            known = services[there].request("GET", f"/policies/{policy}/decisions/{one['id']}")
            parts = known.json()
            assert [parts[name] for name in ("task", "arm", "propensity")] == [
                one[name] for name in ("task", "arm", "propensity")
            ]
        late, again = made[-4]["id"], made[-10]["id"]
        for value, status in ((2.0, "learned"), (2.0, "duplicate")):
            told = post(services[there], f"{policy}/decisions/{late}/reward", value=value)
            assert told["status"] == status
        fixed = services[there].request(
            "PUT", f"/policies/{policy}/decisions/{again}/reward", json={"value": 9.0}
        )
        assert fixed.json()["status"] == "corrected"
        assert groups(services[there], policy) == held_out  # by the secret, which goes along
    assert len({one["id"] for one in made}) == 50
    assert set(held_out) == {"policy", "control"}


def test_workers_refuse_what_they_cannot_share_and_what_is_no_archive(services, tmp_path):
    worker, _, _, alone = services
    worker.request("PUT", "/policies/there", json=SHOP)
    alone.request("PUT", "/policies/sticky", json=SHOP | {"sticky": True})
    sticky = alone.request("GET", "/policies/sticky/export").content
    sound = worker.request("GET", "/policies/there/export").content
    for name, data, status, words in (
        ("new", sticky, 400, "sticky must be False"),
        ("new", b"PK", 400, "archive must be"),
        ("new", sound[:-30], 400, "archive must be"),
        ("a%20b", sound, 400, "name must be"),
        ("there", sound, 409, "must be new"),
    ):
        answer = worker.request("POST", f"/policies/{name}/import", content=data)
        assert (answer.status_code, words in answer.json()["detail"]) == (status, True), name
    assert worker.request("GET", "/policies/nobody/export").status_code == 404
    assert [one["name"] for one in worker.request("GET", "/policies").json()] == ["there"]
    assert list((tmp_path / "one").iterdir()) == []


def test_an_agents_file_becomes_a_shared_policy_unless_it_has_a_past(services, tmp_path):
    worker = services[0]
    agent = Agent(SETTINGS["armed"].make_agent(print, 0).prior, arms=["a", "b", "c"], seed=1)
    waiting = agent.decide("t")
    for past, status in ((False, 200), (True, 400)):
        if past:
            agent.reward(agent.decide("u").id, 1.0)
        agent.save(tmp_path / "agent.hb")
        data = (tmp_path / "agent.hb").read_bytes()
        answer = worker.request("POST", f"/policies/of-{past}/import", content=data)
        assert answer.status_code == status, answer.text
    assert "no past of tasks that is known by sums alone" in answer.json()["detail"]
    told = post(worker, f"of-False/decisions/{waiting.id}/reward", value=1.0)
    assert told["status"] == "learned"


def test_only_who_may_do_all_may_move_files(store_url, tmp_path):
    options = {"kind": SharedService, "store": store_url, "needs_tokens": True}
    with LocalService(tmp_path / "data", **options) as local:
        tokens = local.service.tokens
        texts = {
            scope: tokens.create(scope, [scope], policies, local.service.clock())
            for scope, policies in (("admin", ["p", "q"]), ("read", None))
        }
        assert local.request("PUT", "/policies/p", texts["admin"], json=SHOP).status_code == 200
        assert local.request("GET", "/policies/p/export", texts["read"]).status_code == 403
        data = local.request("GET", "/policies/p/export", texts["admin"]).content
        for name, status in (("r", 404), ("q", 200)):
            path = f"/policies/{name}/import"
            assert local.request("POST", path, texts["admin"], content=data).status_code == status


def test_a_policy_whose_rollout_has_not_come_to_all_tasks_is_not_written_to_a_file(services):
    one, two, *_ = services
    assert one.request("PUT", "/policies/shop", json=SHOP).is_success
    steps = [{"share": 0.5, "seconds": 60.0}, {"share": 1.0}]
    for action, more in (("start", {"steps": steps}), ("rollback", {})):
        change = {"action": action, **more}
        assert one.request("POST", "/policies/shop/rollout", json=change).is_success
        told = two.request("GET", "/policies/shop/export")
        assert (told.status_code, told.json()["code"]) == (409, "rollout")
        assert "must have come to all tasks" in told.json()["detail"]
    change = {"action": "start", "steps": [{"share": 1.0}]}
    assert one.request("POST", "/policies/shop/rollout", json=change).is_success
    assert two.request("GET", "/policies/shop/export").is_success
