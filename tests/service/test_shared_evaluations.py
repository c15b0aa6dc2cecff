"""Evaluations of shared policies: any worker tells of any, also after the one that ran it."""

import asyncio
import os
import time

import pytest
from support.local_services import LocalService
from support.logged_worlds import LoggedWorld
from support.processes import lives, processes_of
from support.servers import Server
from support.service_calls import Line
from support.shared_archives import share

from hierbandits.service import shared_evaluations
from hierbandits.service.evaluations import KEPT
from hierbandits.service.shared_service import SharedService

PATH = "/policies/shop/evaluations"


@pytest.fixture(scope="module")
def store(tmp_path_factory, postgres):
    """Workers share a policy that has decided; the address of their store."""
    folder, url = tmp_path_factory.mktemp("world") / "data", postgres.database()
    LoggedWorld(folder, rounds=10).close()
    share(folder, url)
    yield url
    postgres.drop(url)


@pytest.fixture
def workers(store, tmp_path):
    options = {"kind": SharedService, "store": store}
    with (
        LocalService(tmp_path / "one", **options) as one,
        LocalService(tmp_path / "two", **options) as two,
    ):
        yield one, two


def start(local):
    made = local.request("POST", PATH, json={})
    assert (made.status_code, made.json()["state"]) == (202, "running"), made.text
    return f"{PATH}/{made.json()['id']}"


def ended(local, path):
    """An evaluation when it runs no more."""
    while (found := local.request("GET", path).json())["state"] == "running":
        local.run(asyncio.sleep(0.02))
    return found


def children():
    """The processes that this one has started."""
    return processes_of(os.getpid())


def nothing_runs(before, *workers):
    """Wait until evaluations of workers are over, and their processes gone."""
    deadline = time.monotonic() + 30
    for local in workers:
        while local.service.evaluations._mine:
            assert time.monotonic() < deadline
            local.run(asyncio.sleep(0.02))
        assert list((local.service.folder / "evaluations").glob("*")) == []
    assert children() <= before


def test_any_worker_tells_what_one_has_found_and_connections_may_be_cut(workers, store, postgres):
    (one, two), before = workers, children()
    path = start(one)
    assert two.request("GET", path).json()["state"] == "running"
    postgres.cut(store)
    done = ended(one, path)
    assert (done["state"], done["problem"], done["policy"]) == ("done", None, "shop")
    assert done["findings"]["rows"] + done["findings"]["rows_of_training"] == 200
    assert done["findings"]["until_event"] == 200
    assert done["seconds"] > 0
    assert two.request("GET", path).json() == done
    nothing_runs(before, one)


def test_another_worker_stops_them_where_it_deletes_a_task(workers):
    (one, two), before = workers, children()
    paths = [start(one), start(one)]
    refused = one.request("POST", PATH, json={})
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_evaluations")
    own = start(two)  # the limit is of each worker
    for local in workers:  # their processes begin
        local.run(asyncio.sleep(0.2))
    assert len(children() - before) == 3
    assert two.request("DELETE", "/policies/shop/tasks/t19").status_code == 200
    for path in (*paths, own):
        for local in workers:
            found = local.request("GET", path).json()
            assert (found["state"], found["problem"]["code"]) == ("stopped", "stopped")
    nothing_runs(before, *workers)


def test_a_policy_takes_its_evaluations_along(workers):
    (one, two), before = workers, children()
    one.request("PUT", "/policies/short", json={"arms": ["x", "y"]})
    made = one.request("POST", "/policies/short/evaluations", json={}).json()
    path = f"/policies/short/evaluations/{made['id']}"
    assert two.request("GET", path).is_success
    assert two.request("DELETE", "/policies/short").status_code == 204
    two.request("PUT", "/policies/short", json={"arms": ["x", "y"]})
    for local in workers:
        assert local.request("GET", path).json()["detail"].startswith("evaluation")
    nothing_runs(before, one)
    sql = "SELECT count(*) FROM shared_evaluations WHERE id = %s"
    assert one.service.links.read(sql, (made["id"],)) == [(0,)]


def test_one_that_is_taken_for_dead_stays_so(workers, monkeypatch):
    (one, two), before = workers, children()
    path = start(one)
    monkeypatch.setattr(shared_evaluations, "SILENCE", -1.0)
    told = two.request("GET", path).json()
    assert (told["state"], told["problem"]["code"]) == ("stopped", "interrupted")
    nothing_runs(before, one)
    assert one.request("GET", path).json() == told


def test_the_oldest_are_forgotten(workers):
    one, two = workers
    sql = (
        "INSERT INTO shared_evaluations SELECT policy, 'old-' || i, reply, false, i "
        "FROM shared_evaluations, generate_series(1, 30) AS i WHERE id = %s"
    )
    path = start(one)
    ended(one, path)
    with one.service.links.transaction() as db:
        db.execute(sql, (path.rpartition("/")[2],))
    ended(two, start(two))
    ((number,),) = one.service.links.read("SELECT count(*) FROM shared_evaluations")
    assert number == KEPT
    assert one.request("GET", path).json()["state"] == "done"
    assert one.request("GET", f"{PATH}/old-1").status_code == 404


def test_a_worker_that_ends_stops_its_own(store, tmp_path, workers):
    before = children()
    with LocalService(tmp_path / "three", kind=SharedService, store=store) as third:
        path = start(third)
        third.run(asyncio.sleep(0.1))
    found = workers[0].request("GET", path).json()
    assert (found["state"], found["problem"]["code"]) == ("stopped", "stopped")
    assert children() <= before


def test_an_evaluation_whose_worker_is_killed_is_interrupted(store, tmp_path, workers, monkeypatch):
    monkeypatch.setattr(shared_evaluations, "SILENCE", 3.0)
    with Server(tmp_path / "killed", store=store, shared=True) as server:
        line = Line(server.port)
        status, made = line.call("POST", PATH, {})
        assert (status, made["state"]) == (202, "running")
        while not (mine := processes_of(server.process.pid)):
            time.sleep(0.01)
        server.kill()  # -9
        line.close()
    path = f"{PATH}/{made['id']}"
    assert workers[0].request("GET", path).json()["state"] == "running"  # nobody knows yet
    found = ended(workers[0], path)
    assert (found["state"], found["problem"]["code"]) == ("stopped", "interrupted")
    assert workers[1].request("GET", path).json() == found
    deadline = time.monotonic() + 60
    while any(lives(one) for one in mine):
        assert time.monotonic() < deadline, "the process of an evaluation lives on"
        time.sleep(0.05)
