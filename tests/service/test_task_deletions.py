"""Tasks that are deleted from a policy and its shadow, also by a service that dies meanwhile."""

import json
import shutil
import time

import httpx
import pytest
from support.servers import Server
from support.shadowed_worlds import shadowed_folder

from hierbandits.service.data_place import DataPlace
from hierbandits.service.doctor import doctor

_DIES = """
import json, os, signal, sys
from pathlib import Path
from hierbandits.service.serve import serve
from hierbandits.service.sqlite_storage import SqliteStorage

rewrite, options = SqliteStorage.rewrite, json.loads(sys.argv[2])
lives = options.pop("lives")

def dying(self, *given):
    global lives
    if lives == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    lives -= 1
    return rewrite(self, *given)

SqliteStorage.rewrite = dying
serve(Path(sys.argv[1]), **options)
"""


@pytest.fixture(scope="module")
def shadowed(tmp_path_factory):
    return shadowed_folder(tmp_path_factory.mktemp("world") / "data")


@pytest.fixture
def folder(shadowed, tmp_path):
    shutil.copytree(shadowed, tmp_path / "data")
    return tmp_path / "data"


def decisions_of(folder, task):
    """The decisions of a task in the ledger of each policy, and whether the ledger names it."""
    storage = DataPlace(folder).storage()
    try:
        found = {}
        for record in storage.policies():
            events = [json.loads(data) for _, data in storage.events(record.id)]
            made = [one for event in events for one in event.get("decisions", ())]
            ids = [one["id"] for one in made if one is not None and one["task"] == task]
            named = any(event.get("task") == task for event in events)
            found[record.name] = ids, named
        return found
    finally:
        storage.close()


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_done(server):
    """Whether the policy's deletion is finished."""
    text = "a deletion that was cut off is done"
    return any((one.get("message"), one.get("policy")) == (text, "shop") for one in server.lines())


@pytest.mark.parametrize("lives", [0, 1])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_deletion_that_is_cut_off_is_finished_after_the_next_start(folder, lives, is_late):
    """The service dies before the shadow's ledger is rewritten, or before the policy's is."""
    with Server(folder, program=_DIES, lives=lives) as server:
        client = server.client()
        client.post("/policies/shop/decisions", json={"task": "t1"})
        with pytest.raises(httpx.HTTPError):
            client.delete("/policies/shop/tasks/t1")
        server.process.wait(60)
    before = decisions_of(folder, "t1")
    assert before["shop"][0]
    assert bool(before["shop.candidate"][0]) == (lives == 0)
    kept = []
    with Server(folder) as server:
        client = server.client()
        if is_late:  # the task has come again, which is no part of what is deleted
            made = client.post("/policies/shop/decisions", json={"task": "t1"}).json()
            kept = [made["id"]]
        wait_until(lambda: is_done(server))
        assert client.get("/policies/shop/tasks/t1").status_code == (200 if is_late else 404)
        made = client.post("/policies/shop/decisions", json={"task": "t2"}).json()
        path = f"/policies/shop.candidate/decisions/{made['id']}"
        wait_until(lambda: client.get(path).status_code == 200)  # the shadow goes on
        server.stop()
    assert decisions_of(folder, "t1") == {"shop": (kept, False), "shop.candidate": (kept, False)}
    assert doctor(folder).faults == []
