"""kill -9 in the middle of a change of arms: it is there wholly or not at all, for all workers."""

from contextlib import closing

import msgspec
import pytest
from support.arm_requests import ArmRequest
from support.held_moments import MOMENTS, HeldMoments
from support.service_calls import Line
from support.shared_stores import OF_FAMILIES, SETTINGS
from support.shared_workers import PatientLine, SharedTroubles, SharedWorkers

from hierbandits.service.doctor import doctor
from hierbandits.service.shared_check import check_shared

SHOP = "/policies/shop"
PLAYED = SETTINGS | OF_FAMILIES


def learn(line, arm):
    """Decisions of three tasks with rewards; the id of one without, of an arm."""
    rows = [{"task": f"t{i % 3}"} for i in range(12)]
    for one in line.post(f"{SHOP}/rounds", {"decisions": rows})["decisions"]:
        reward = line.post(f"{SHOP}/decisions/{one['id']}/reward", {"value": 1})
        assert reward["status"] == "learned"
    return line.post(f"{SHOP}/decisions", {"task": "t0", "arms": [arm]})["id"]


@pytest.mark.parametrize("when", list(MOMENTS)[:3])
@pytest.mark.parametrize("kind", ["armed", "clicks"])
def test_a_killed_change_of_arms_is_there_wholly_or_not_at_all(store_url, tmp_path, kind, when):
    workers = SharedWorkers(tmp_path, store_url, 2).start()
    try:
        line = PatientLine(workers.servers[1].port)  # it is idle while a worker starts
        assert line.call("PUT", SHOP, msgspec.to_builtins(PLAYED[kind]))[0] == 200
        moments = HeldMoments(store_url)
        for change in (("d", None), (None, "a")):
            late = learn(line, "a")
            workers.wait_until_folded()  # then only the change writes a generation
            before, offered = workers.agreed(SHOP)
            request = ArmRequest(SHOP, workers.servers[0].port, *change)
            assert workers.kill_at(moments, when, request.begin) == 0
            workers.servers[0].start()
            is_there = request.is_there(before, offered, *workers.agreed(SHOP))
            assert request.status is None
            assert not is_there or when == "a version is committed"
            again = ArmRequest(SHOP, workers.servers[0].port, *change)
            again.begin()
            again.wait()
            assert again.status == (400 if is_there else 200)
            assert again.is_there(before, offered, *workers.agreed(SHOP))
            for one, status in zip(workers.servers, ("learned", "duplicate"), strict=True):
                with closing(Line(one.port)) as other:
                    told = other.post(f"{SHOP}/decisions/{late}/reward", {"value": 1})
                assert told["status"] == status
        assert workers.agreed(SHOP) == (3, ["b", "c", "d"])
        line.close()
        workers.wait_until_folded()
    finally:
        workers.kill()
    (health,) = check_shared(store_url)
    assert (health.faults, health.rewards) == ([], 26)


@pytest.mark.parametrize("kind", ["armed", "clicks"])
def test_arms_change_under_load_while_workers_are_killed(postgres, tmp_path, kind):
    own = SharedTroubles(postgres, tmp_path, number=2, seed=4, kind=kind)
    try:
        for _ in range(4):
            own.kill_who_changes_arms(0.3)
        changes = [own.counts[f"changes of arms {what}"] for what in ("there", "not there")]
        assert sum(changes) == 4
        assert own.counts["acknowledged rewards"] > 0
        assert doctor(tmp_path / "none", store=own.url).faults == []
    finally:
        own.close()
