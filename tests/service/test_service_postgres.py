"""Everything that the service does, on a folder and on a store: the answers are of one kind."""

import asyncio

import numpy as np
import pytest
from support.local_services import LocalService
from support.served_truth import SETTINGS
from support.service_lives import means

from hierbandits.service.doctor import doctor
from hierbandits.service.snapshots import from_ledger

GUARDED = SETTINGS | {
    "sticky": True, "control_arm": "a", "reward_wait": 3600.0, "default_reward": 0.0,
    "guardrails": [{"name": "errors", "high": 1.0, "low": 0.0, "at_most": 0.5}],
}  # fmt: skip
SHOP = "/policies/shop"


def live(local):
    """A day of requests; the status of each, and what it says where that is certain."""
    told = []

    def ask(method, path, body=None, **options):
        reply = local.request(method, path, json=body, **options)
        told.append((method, path, reply.status_code))
        return reply

    ask("PUT", SHOP, SETTINGS)
    ask("PUT", "/policies/other", {"arms": ["x", "y"]})
    for i in range(40):
        body = {"task": f"t{i % 5}", "id": f"own-{i}"}
        first, again = (ask("POST", f"{SHOP}/decisions", body).json() for _ in range(2))
        assert (first["arm"], again["duplicate"]) == (again["arm"], True)
        if i % 4:
            ask("POST", f"{SHOP}/decisions/own-{i}/reward", {"value": i / 40})
    told.append(ask("POST", f"{SHOP}/decisions/own-1/reward", {"value": 1 / 40}).json()["status"])
    ask("POST", f"{SHOP}/decisions/own-1/reward", {"value": 9.0})
    ask("POST", f"{SHOP}/decisions/nobody/reward", {"value": 9.0})
    told.append(ask("PUT", f"{SHOP}/decisions/own-2/reward", {"value": 7.0}).json()["status"])
    rounds = {"decisions": [{"task": f"t{i}"} for i in range(3)]}
    made = ask("POST", f"{SHOP}/rounds", rounds).json()["decisions"]
    ask("POST", f"{SHOP}/rewards", {"rewards": [{"id": one["id"], "value": 0.5} for one in made]})
    ask("PUT", SHOP, GUARDED)  # a new version
    kept = [ask("POST", f"{SHOP}/decisions", {"task": "t1"}).json()["arm"] for _ in range(3)]
    assert len(set(kept)) == 1
    id = ask("POST", f"{SHOP}/decisions", {"task": "t2", "id": "measured"}).json()["id"]
    for _ in range(2):
        told.append(ask("POST", f"{SHOP}/decisions/{id}/metrics", {"values": {"errors": 1.0}}).text)
    start = {"action": "start", "steps": [{"share": 0.5, "seconds": 60}, {"share": 1.0}]}
    ask("POST", f"{SHOP}/rollout", start)
    for page in ("rollout", "audit", "history", "recent", "population", "versions", "tasks"):
        ask("GET", f"{SHOP}/{page}")
    told.append(ask("GET", f"{SHOP}/history").json()["counts"])
    ask("GET", f"{SHOP}/decisions/own-3/account")
    ask("POST", "/ofrep/v1/evaluate/flags/shop", {"context": {"targetingKey": "t3"}})
    ask("POST", f"{SHOP}/arms", {"name": "d"})
    ask("DELETE", f"{SHOP}/arms/d")
    evaluation = ask("POST", f"{SHOP}/evaluations", {"floor": 0.1}).json()["id"]
    while local.request("GET", f"{SHOP}/evaluations/{evaluation}").json()["state"] == "running":
        local.run(_pause())
    told.append(local.request("GET", f"{SHOP}/evaluations/{evaluation}").json()["state"])
    told.append(ask("DELETE", f"{SHOP}/tasks/t4").json())
    ask("GET", f"{SHOP}/decisions/own-4")
    moved = ask("GET", f"{SHOP}/export").content
    told.append(local.request("POST", "/policies/copy/import", content=moved).status_code)
    ask("GET", "/policies/copy")
    ask("GET", f"{SHOP}/log?every=true")
    ask("DELETE", "/policies/other")
    ask("GET", "/policies/other")
    ask("GET", "/metrics")
    told.append([one["name"] for one in ask("GET", "/policies").json()])
    return told


async def _pause():
    await asyncio.sleep(0.05)


def agents(service):
    """What the served agents, and those of the ledger alone, believe."""
    for turns in service.book.all_turns:
        served = turns.live
        ledger = from_ledger(
            served.record, served.settings, service.storage, lambda event: None,
            until=served.number,
        )  # fmt: skip
        yield means(served.agent), means(ledger)


@pytest.fixture
def folder_told(tmp_path):
    with LocalService(tmp_path / "folder") as local:
        return live(local)


def test_a_store_answers_as_a_folder_does_and_is_found_again(folder_told, store_url, tmp_path):
    place = tmp_path / "worker"
    with LocalService(place, store=store_url) as local:
        assert live(local) == folder_told
        known = list(agents(local.service))
        for served, ledger in known:
            assert served.keys() == ledger.keys()
            for task, mean in served.items():
                np.testing.assert_allclose(mean, ledger[task], rtol=0, atol=1e-9)
        backup = local.request("POST", "/backup")
        assert (backup.status_code, "use pg_dump" in backup.text) == (409, True)
    assert doctor(place, store=store_url).faults == []
    with LocalService(tmp_path / "elsewhere", store=store_url) as local:
        for (served, _), (again, _) in zip(known, agents(local.service), strict=True):
            assert again.keys() == served.keys()
            for task, mean in served.items():
                np.testing.assert_allclose(mean, again[task], rtol=0, atol=1e-9)


def test_snapshots_of_before_another_served_are_deleted(store_url, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    with LocalService(here, store=store_url) as local:
        local.request("PUT", SHOP, json=SETTINGS)
        for task in ("kept", "gone"):
            local.request("POST", f"{SHOP}/decisions", json={"task": task, "id": task})
            local.request("POST", f"{SHOP}/decisions/{task}/reward", json={"value": 3.0})
    assert list((here / "snapshots").glob("*.agent"))
    with LocalService(here, store=store_url) as local:  # nobody else has served: they are used
        assert list((here / "snapshots").glob("*.agent"))
    with LocalService(there, store=store_url) as local:
        assert local.request("DELETE", f"{SHOP}/tasks/gone").status_code == 200
    with LocalService(here, store=store_url) as local:
        assert list((here / "snapshots").glob("*.agent")) == []
        assert local.request("GET", f"{SHOP}/tasks/gone").status_code == 404
        (known,) = agents(local.service)
        assert set(known[0]) == {"kept"}


def test_tokens_of_the_store_are_those_of_every_worker(store_url, tmp_path):
    with LocalService(tmp_path / "a", store=store_url, needs_tokens=True) as local:
        others = local.service.place.tokens()
        secret = others.create("ops", ["admin"], None, 0.0)
        others.close()
        local.service.tokens.refresh()
        assert local.request("GET", "/policies", token=secret).status_code == 200
    with LocalService(tmp_path / "b", store=store_url, needs_tokens=True) as local:
        assert local.request("GET", "/policies", token=secret).status_code == 200
        assert local.request("GET", "/policies", token="hb_ops.no").status_code == 401
