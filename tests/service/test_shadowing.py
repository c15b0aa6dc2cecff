"""A shadow sees every event of its policy, in order and once, also over a restart."""

import asyncio
import json
import shutil
import time

import pytest
from support.local_services import LocalService
from support.shadowed_worlds import shadowed_folder

from hierbandits.service.doctor import doctor
from hierbandits.service.shadowing import last_source
from hierbandits.service.snapshots import from_ledger

NAME, SHADOW = "/policies/shop", "/policies/shop.candidate"


@pytest.fixture(scope="module")
def shadowed(tmp_path_factory):
    """A folder whose policy has a shadow of another rule."""
    return shadowed_folder(tmp_path_factory.mktemp("world") / "data")


@pytest.fixture
def folder(shadowed, tmp_path):
    shutil.copytree(shadowed, tmp_path / "data")
    return tmp_path / "data"


def post(local, path, **body):
    return local.request("POST", path, json=body).json()


def life(local, number=10):
    """Decisions, rewards, corrections and an arm; returns the last decision."""
    for _ in range(number):
        wanted = [{"task": f"t{n}"} for n in range(5)] + [{"task": "some", "arms": ["x", "y"]}]
        made = post(local, f"{NAME}/rounds", decisions=wanted)["decisions"]
        rows = [{"id": one["id"], "value": 1.0} for one in made[::2]]
        post(local, f"{NAME}/rewards", rewards=rows)
    local.request("PUT", f"{NAME}/decisions/{made[0]['id']}/reward", json={"value": 0.5})
    return made[0]


def caught_up(local):
    """Wait until the shadow has seen all; the two policies."""
    one, two = (local.service.book.turns(name).live for name in ("shop", "shop.candidate"))
    deadline = time.monotonic() + 30
    while last_source(two) != one.number:
        assert time.monotonic() < deadline, (last_source(two), one.number)
        local.run(asyncio.sleep(0.02))
    return one, two


def check(local, *, is_exact=True):
    """The shadow is what the policy's own ledger makes of its settings.

    Where widths are unknown, a deletion leaves traces of when it was.
    """
    one, two = caught_up(local)
    storage = local.service.storage
    expected = from_ledger(one.record, two.settings, storage, lambda event: None, until=one.number)
    assert set(expected.tasks) == set(two.agent.tasks)
    for task in expected.tasks:
        tables = expected.task_table(task), two.agent.task_table(task)
        columns = tables[0] if is_exact else ["rewards"]
        assert [tables[0][name] for name in columns] == [tables[1][name] for name in columns]
    assert {one.id for one in expected.pending} == {one.id for one in two.agent.pending}
    return one, two


def test_it_sees_all_that_happens(folder):
    with LocalService(folder) as local:
        last = life(local)
        post(local, f"{NAME}/arms", name="w")
        life(local, 2)
        check(local)
        seen = local.request("GET", f"{SHADOW}/decisions/{last['id']}").json()
        assert (seen["arm"], seen["group"], seen["reward"]) == (last["arm"], "shadow", 0.5)
        assert seen["would"] in ("x", "y", "z")
        told = local.request("GET", f"{NAME}/promotion").json()
        assert told["shown"] == 12 * 6
    assert doctor(folder).faults == []


def test_it_goes_on_after_a_restart_with_what_it_missed(folder):
    with LocalService(folder) as local:
        local.service.book.turns("shop.candidate").is_paused = True  # its disk is full, say
        life(local)
        local.run(asyncio.sleep(0.1))
        behind = last_source(local.service.book.turns("shop.candidate").live)
        assert behind < local.service.book.turns("shop").live.number
    for _ in range(2):
        with LocalService(folder) as local:
            check(local)
            life(local, 3)
            check(local)
    with LocalService(folder) as local:
        _, shadow = check(local)
        sources = [
            event["source"]
            for _, data in local.service.storage.events(shadow.record.id)
            if "source" in (event := json.loads(data))
        ]
    assert sources == list(range(sources[0], sources[0] + len(sources)))


def test_a_task_that_is_deleted_is_deleted_in_the_shadow_too(folder):
    with LocalService(folder) as local:
        life(local, 3)
        assert local.request("DELETE", f"{NAME}/tasks/t1").status_code == 200
        _, shadow = check(local, is_exact=False)
        assert not shadow.agent.has_met("t1")
        storage = local.service.storage
        assert not any(b'"t1"' in data for _, data in storage.events(shadow.record.id))


def test_a_policy_that_is_no_shadow_any_more_is_shown_nothing(folder):
    with LocalService(folder) as local:
        caught_up(local)
        settings = local.request("GET", SHADOW).json()["settings"] | {"mode": "live"}
        local.request("PUT", SHADOW, json=settings)
        before = last_source(local.service.book.turns("shop.candidate").live)
        life(local, 1)
        local.run(asyncio.sleep(0.2))
        assert last_source(local.service.book.turns("shop.candidate").live) == before
        local.request("DELETE", SHADOW)
        assert life(local, 1)["arm"]


def test_what_a_shadow_cannot_learn_is_told_and_harms_nobody(folder, caplog):
    with LocalService(folder) as local:
        caught_up(local)
        shadow = local.service.book.turns("shop.candidate").live
        shadow.agent.forget("t1")  # so that it cannot be told of t1's pending decisions
        shadow._acting.written.clear()
        life(local, 2)
        local.run(asyncio.sleep(0.3))
        assert "a shadow cannot follow" in caplog.text
        assert life(local, 1)["arm"]
