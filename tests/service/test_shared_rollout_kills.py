"""kill -9 of a worker that changes a rollout: it happens once, or not at all, for all workers."""

import threading
from contextlib import closing, suppress

import msgspec
import pytest
from msgspec.structs import replace
from support.held_moments import HeldMoments
from support.service_calls import BROKEN, Line
from support.shared_stores import SETTINGS
from support.shared_workers import PatientLine, SharedWorkers

from hierbandits.service.doctor import doctor
from hierbandits.service.guardrail import Guardrail

SHOP = "/policies/shop"
MOMENTS = ["a rollout is changed", "a change of a rollout is committed"]


@pytest.fixture
def workers(store_url, tmp_path):
    workers = SharedWorkers(tmp_path, store_url, 2).start()
    with closing(Line(workers.port)) as line:
        guardrails = [Guardrail(name="errors", at_most=0.1)]
        given = replace(SETTINGS["armed"], control_arm="c", guardrails=guardrails)
        settings = msgspec.to_builtins(given)
        assert line.call("PUT", SHOP, settings)[0] == 200
    yield workers
    workers.kill()
    assert doctor(tmp_path / "none", store=store_url).faults == []


def whats(line):
    return [one["what"] for one in line.get(f"{SHOP}/audit")["changes"]][::-1]


def group(line, task):
    return line.post(f"{SHOP}/decisions", {"task": task}).get("group", "policy")


@pytest.mark.parametrize("when", MOMENTS)
def test_a_rollback_is_there_wholly_or_not_at_all(workers, store_url, when):
    def ask():
        with closing(Line(workers.servers[0].port)) as first, suppress(*BROKEN):
            first.post(f"{SHOP}/rollout", {"action": "rollback"})

    asked = threading.Thread(target=ask)
    with closing(PatientLine(workers.servers[1].port)) as line:
        assert group(line, "t") == "policy"
        assert workers.kill_at(HeldMoments(store_url), when, asked.start) == 0
        asked.join()
        is_there = whats(line) == ["created", "rollback"]
        assert is_there or whats(line) == ["created"]
        assert not is_there or when == MOMENTS[1]
        assert group(line, "t") == ("control" if is_there else "policy")
        status, _ = line.call("POST", f"{SHOP}/rollout", {"action": "rollback"})
        assert status == (409 if is_there else 200)
        assert group(line, "new") == "control"
        assert whats(line) == ["created", "rollback"]


def test_when_who_steps_is_killed_another_steps_once(workers, store_url):
    moments = HeldMoments(store_url)
    steps = [{"share": 0.5, "seconds": 1.5}, {"share": 1}]
    for server in workers.servers:
        with closing(Line(server.port)) as line:
            group(line, "t")  # it decides for the policy, and folds
            if server is workers.servers[0]:
                line.post(f"{SHOP}/rollout", {"action": "start", "steps": steps})
    place = workers.kill_at(moments, MOMENTS[0])
    with closing(Line(workers.servers[1 - place].port)) as line:
        while line.get(f"{SHOP}/rollout")["phase"] != "done":
            pass
        assert whats(line) == ["created", "ramp", "step"]


def test_when_who_rolls_back_by_a_guardrail_is_killed_another_does_once(workers, store_url):
    moments, told = HeldMoments(store_url), []
    rows = [{"task": f"t{i}"} for i in range(30)]
    with closing(PatientLine(workers.servers[0].port)) as line:
        made = line.post(f"{SHOP}/rounds", {"decisions": rows})["decisions"]
    metrics = [{"id": one["id"], "values": {"errors": 1}} for one in made]

    def tell(place):
        with closing(PatientLine(workers.servers[place].port)) as line:
            for first in range(0, 30, 5):
                body = {"metrics": metrics[first : first + 5]}
                with suppress(*BROKEN):  # of the worker that is killed
                    told.extend(line.post(f"{SHOP}/metrics", body)["metrics"])

    clients = [threading.Thread(target=tell, args=(place,)) for place in (0, 1, 0, 1)]

    def begin():
        for client in clients:
            client.start()

    place = workers.kill_at(moments, MOMENTS[0], begin)
    for client in clients:
        client.join()
    with closing(PatientLine(workers.servers[1 - place].port)) as line:
        while line.get(f"{SHOP}/rollout")["phase"] != "rolled back":
            pass
        assert group(line, "new") == "control"
        workers.servers[place].start()
        again = line.post(f"{SHOP}/metrics", {"metrics": metrics})["metrics"]
        stored = [one["id"] for one in [*told, *again] if one["values"]["errors"] == "stored"]
        assert len(stored) == len(set(stored)) <= 30
        with closing(PatientLine(workers.servers[place].port)) as other:
            assert group(other, "newer") == "control"
            assert whats(other) == ["created", "rollback"]
            (last, _) = other.get(f"{SHOP}/audit")["changes"]
            (errors,) = other.get(f"{SHOP}/rollout")["guardrails"]
        assert (last["count"], last["mean"]) == (errors["count"], 1.0)
        assert errors["count"] < 10  # it counts no more once it is crossed
