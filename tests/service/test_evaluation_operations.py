"""Candidates judged over HTTP."""

import asyncio
import json
import os
import signal
import time

import pytest
from support.local_services import LocalService
from support.logged_worlds import LoggedWorld, sure_of
from support.processes import lives, processes_of
from support.servers import Server
from support.service_calls import Line
from support.shared_archives import share

from hierbandits.service.shared_service import SharedService

PATH = "/policies/shop/evaluations"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    world = LoggedWorld(tmp_path_factory.mktemp("world") / "data")
    world.close()
    return world.folder


@pytest.fixture(scope="module")
def shared_store(folder, postgres):
    """A store in which workers share the same policy."""
    url = postgres.database()
    share(folder, url)
    yield url
    postgres.drop(url)


@pytest.fixture(params=["alone", "shared"])
def local(request, folder, tmp_path):
    options = {}
    if request.param == "shared":
        options = {"kind": SharedService, "store": request.getfixturevalue("shared_store")}
    with LocalService(tmp_path / "worker" if options else folder, **options) as local:
        yield local


def start(local, **body):
    reply = local.request("POST", PATH, json=body)
    assert reply.status_code == 202, reply.text
    return f"{PATH}/{reply.json()['id']}"


def state(local, path):
    return local.request("GET", path).json()["state"]


def test_a_candidate_is_judged_while_others_decide(local):
    path = start(local, rule="HierGreedy", floor=0.0)
    decided, slowest = 0, 0.0
    while state(local, path) == "running":
        begun = time.perf_counter()
        made = local.request("POST", "/policies/shop/decisions", json={"task": "t1"})
        slowest = max(slowest, time.perf_counter() - begun)
        assert made.status_code == 200
        decided += 1
        local.run(asyncio.sleep(0.01))
    found = local.request("GET", path).json()
    assert found["state"] == "done"
    assert decided > 5
    assert slowest < 5
    assert found["findings"]["better_than_log"] is True
    assert found["findings"]["verdict"].startswith("The candidate would earn 0.")
    assert [one["policy"] for one in found["findings"]["policies"]] == [
        "candidate", "logged", "best arm",
    ]  # fmt: skip
    again = local.request("GET", "/policies/shop").json()
    assert (again["version"], again["settings"]["rule"]) == (1, "HierTS")  # nothing has changed


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"rule": "Nobody"}, "rule must be one of"),
        ({"rule": 5}, "rule"),
        ({"floor": 1.5}, "floor must be in"),
        ({"floor": "0.1"}, "floor"),
        ({"confidence": 1.0}, "confidence must be in (0, 1), got 1.0"),
        ({"confidence": -3}, "confidence must be in (0, 1)"),
        ({"prior": {}}, "prior must be what `hierbandits learn` writes"),
        ({"prior": sure_of(0) | {"noise_std": -1.0}}, "noise_std must be"),
        ({"prior": sure_of(0) | {"hyper_mean": [1e300] * 3}}, "hyper_mean"),
        ({"prior": sure_of(0, arms=5)}, "arms"),
        ({"rewards": "nothing"}, "nothing"),
        ({"sticky": True}, "unknown field `sticky`"),
        ({"arms": ["a"]}, "unknown field `arms`"),
    ],
)
def test_hostile_settings_are_refused_at_once(local, body, words):
    reply = local.request("POST", PATH, json=body)
    assert (reply.status_code, reply.json()["code"]) == (400, "bad_request")
    assert words in reply.json()["detail"]


@pytest.mark.parametrize("text", ["", "[", '{"floor":NaN}', '{"prior":' + "[" * 5000, "null"])
def test_what_is_no_json_is_refused(local, text):
    assert local.request("POST", PATH, content=text).status_code == 400


def test_too_many_at_once_wait_and_a_deleted_task_stops_them(local):
    local.service.evaluations._at_once = 1
    path = start(local)
    refused = local.request("POST", PATH, json={})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
    assert refused.json()["code"] == "too_many_evaluations"
    assert local.request("DELETE", "/policies/shop/tasks/t19").status_code == 200
    found = local.request("GET", path).json()
    assert (found["state"], found["problem"]["code"]) == ("stopped", "stopped")


def test_an_evaluation_goes_with_its_policy(local):
    local.request("PUT", "/policies/short", json={"arms": ["x", "y"]})
    reply = local.request("POST", "/policies/short/evaluations", json={})
    path = f"/policies/short/evaluations/{reply.json()['id']}"
    other = path.replace("short", "shop")
    assert local.request("GET", other).status_code == 404  # of another policy
    assert local.request("DELETE", "/policies/short").status_code == 204
    gone = local.request("GET", path)
    assert (gone.status_code, gone.json()["detail"]) == (404, "policy 'short' is not known")
    local.request("PUT", "/policies/short", json={"arms": ["x", "y"]})
    assert local.request("GET", path).status_code == 404
    assert local.request("POST", "/policies/nobody/evaluations", json={}).status_code == 404
    assert local.request("GET", f"{PATH}/nothing").status_code == 404


def test_tokens_see_the_evaluations_of_their_policies(folder, tmp_path):
    with LocalService(folder, needs_tokens=True) as local:
        tokens = local.service.tokens
        mine, theirs, deciding = (
            tokens.create(name, scopes, policies, 0.0)
            for name, scopes, policies in (
                ("mine", ["read"], ["shop"]),
                ("theirs", ["read", "admin"], ["other"]),
                ("deciding", ["decide", "reward"], ["shop"]),
            )
        )
        made = local.request("POST", PATH, mine, json={})
        path = f"{PATH}/{made.json()['id']}"
        assert local.request("GET", path, mine).status_code == 200
        for method, where in (("POST", PATH), ("GET", path)):
            hidden = local.request(method, where, theirs, json={})
            absent = local.request(method, where.replace("shop", "none"), theirs, json={})
            assert hidden.status_code == absent.status_code == 404
            assert hidden.text.replace("shop", "none") == absent.text
            assert local.request(method, where, deciding, json={}).status_code == 403
            assert local.request(method, where, json={}).status_code == 401
    for name in ("mine", "theirs", "deciding"):
        tokens.revoke(name)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_service(tmp_path, how):
    LoggedWorld(tmp_path / "data", rounds=5).close()
    with Server(tmp_path / "data") as server:
        line = Line(server.port)
        status, made = line.call("POST", PATH, {})
        assert (status, made["state"]) == (202, "running")
        while not (children := processes_of(server.process.pid)):
            time.sleep(0.01)
        (child,) = children
        os.kill(server.process.pid, how)  # it alone: the child has a session of its own
        server.process.wait(60)
        deadline = time.monotonic() + 60
        while lives(child):
            assert time.monotonic() < deadline, "the process of an evaluation lives on"
            time.sleep(0.05)
        line.close()
    if how == signal.SIGTERM:
        assert json.dumps(server.lines()).count("an evaluation failed") == 0
        assert list((tmp_path / "data" / "evaluations").glob("*")) == []
