"""Metrics that workers share: each counts once, in one order, and a crossed guardrail acts once."""

import threading
import time

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace
from support.rollout_services import rollout_service
from support.shared_stores import SETTINGS, books

from hierbandits.service import shared_rollout
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_operations import RolloutRequest
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_folder import SharedFolder
from hierbandits.service.shared_rollout import changes_of, replayed, rollout_now
from hierbandits.service.shared_rollout_operations import act
from hierbandits.service.store_url import SCHEMA
from hierbandits.service.wire import DecisionRequest

ERRORS = {"name": "errors", "at_most": 0.1}
SECONDS = {"name": "seconds", "at_most": 2.0, "high": 30.0}
VERSUS = {"name": "refunds", "at_most": 0.1, "against": "control"}
SERVED = {"arms": ["x", "y"], "draws": 5, "control_arm": "x", "guardrails": [ERRORS, SECONDS]}
RATIO = {"arms": ["x", "y"], "draws": 20, "floor": 0.5, "rule": "HierIDS", "control_arm": "x"}
SHOP = replace(
    SETTINGS["armed"], control_arm="c", control_share=0.3, floor=0.3, ratio_check="rewards",
    guardrails=[Guardrail(**one) for one in (ERRORS, SECONDS, VERSUS)],
)  # fmt: skip


@pytest.fixture(params=["alone", "shared"])
def served(request, tmp_path, store_url):
    with rollout_service(request.param, tmp_path, store_url) as served:
        assert served.put(SERVED).status_code == 200
        yield served


def counts(shown):
    return {one["name"]: one["count"] for one in shown["guardrails"]}


def test_metrics_are_answered_and_counted_once(served):
    ids = [one["id"] for one in served.decide(3)]
    path = f"decisions/{ids[0]}/metrics"
    for told in ("stored", "duplicate", "duplicate"):
        assert served.post(path, {"values": {"seconds": 3.0}}).json()["values"] == {"seconds": told}
    assert served.post(path, {"values": {"seconds": 4.0}}).json()["code"] == "conflict"
    both = served.post(path, {"values": {"errors": 0.0, "seconds": 4.0}})
    assert both.status_code == 409  # nothing of it is stored
    for values in ({"nonsense": 1.0}, {"seconds": -1.0}, {"exposure": 1.0}, {}):
        assert served.post(path, {"values": values}).status_code == 400
    assert served.post("decisions/nobody/metrics", {"values": {"errors": 0}}).status_code == 404
    rows = [{"id": id, "values": {"errors": 0}} for id in (ids[1], "nobody", ids[1], ids[0])]
    rows.append({"id": ids[1], "values": {"errors": 1}})
    many = served.post("metrics", {"metrics": rows}).json()["metrics"]
    assert [one.get("values") for one in many] == [
        {"errors": "stored"}, None, {"errors": "duplicate"}, {"errors": "stored"}, None,
    ]  # fmt: skip
    assert [one.get("status") for one in many] == [None, 404, None, None, 409]
    wanted = {"errors": 2, "seconds": 1}
    served.rollout_when(lambda shown: counts(shown) == wanted)


def test_metrics_come_with_rewards(served):
    ids = [one["id"] for one in served.decide(3)]
    reward = {"value": 1, "metrics": {"seconds": 3}}
    for status in ("learned", "duplicate"):
        reply = served.post(f"decisions/{ids[0]}/reward", reward)
        assert reply.json() == {"id": ids[0], "status": status}
    wrong = served.post(f"decisions/{ids[1]}/reward", {"value": 1, "metrics": {"nonsense": 3}})
    assert wrong.status_code == 400
    assert served.get(f"decisions/{ids[1]}")["reward"] is None
    rows = [
        {"id": ids[1], "value": 1, "metrics": {"seconds": 1}},
        {"id": "nobody", "value": 1, "metrics": {"seconds": 1}},
        {"id": ids[2], "value": 1},
        {"id": ids[0], "value": 1, "metrics": {"seconds": 4}},
    ]
    told = served.post("rewards", {"rewards": rows}).json()["rewards"]
    assert [one["status"] for one in told] == ["learned", 404, "learned", 409]
    shown = served.rollout_when(lambda shown: counts(shown)["seconds"] == 2)
    assert shown["guardrails"][1]["mean"] == 2.0


def test_a_crossed_guardrail_rolls_back_once_and_begins_anew_with_the_next_ramp(served):
    ids = [one["id"] for one in served.decide(40)]
    served.post("metrics", {"metrics": [{"id": id, "values": {"errors": 1}} for id in ids[:20]]})
    shown = served.rollout_when(lambda shown: shown["phase"] == "rolled back")
    assert shown["share"] == 0.0
    errors, seconds = shown["guardrails"]
    assert (errors["is_crossed"], seconds["is_crossed"]) == (True, False)
    assert set(served.groups().values()) == {"control"}
    served.post("metrics", {"metrics": [{"id": id, "values": {"errors": 1}} for id in ids[20:]]})
    (last, _) = served.audit()
    assert (last["what"], last["by"]) == ("rollback", "the guardrail errors")
    assert (last["count"], last["mean"]) == (errors["count"], 1.0)
    assert served.act("start", [{"share": 1}]).status_code == 200
    assert counts(served.get("rollout")) == {"errors": 0, "seconds": 0}
    assert set(served.groups().values()) == {"policy"}
    new = [one["id"] for one in served.decide(5, "new")]
    served.post("metrics", {"metrics": [{"id": id, "values": {"errors": 0}} for id in new]})
    shown = served.rollout_when(lambda shown: counts(shown)["errors"] == 5)
    assert (shown["phase"], shown["guardrails"][0]["mean"]) == ("done", 0.0)
    assert len(served.audit()) == 3


def test_new_settings_go_on_or_begin_anew_and_a_task_takes_its_metrics_along(served):
    made = served.decide(4)
    rows = [{"id": one["id"], "values": {"errors": 0.5, "seconds": 1}} for one in made]
    served.post("metrics", {"metrics": rows})
    served.rollout_when(lambda shown: counts(shown) == {"errors": 4, "seconds": 4})
    assert served.put(SERVED | {"floor": 0.1}).status_code == 200
    assert counts(served.get("rollout")) == {"errors": 4, "seconds": 4}
    assert served.request("DELETE", "/policies/p/tasks/task 2").status_code == 200
    served.rollout_when(lambda shown: counts(shown) == {"errors": 3, "seconds": 3})
    other = [ERRORS | {"at_most": 0.2}]
    assert served.put(SERVED | {"guardrails": other}).status_code == 200
    assert counts(served.get("rollout")) == {"errors": 0}
    refused = served.post(f"decisions/{made[0]['id']}/metrics", {"values": {"seconds": 1}})
    assert refused.status_code == 400


def test_the_numbers_for_prometheus_say_how_far_it_is(served):
    served.act("start", [{"share": 0.5, "seconds": 600}, {"share": 1}])
    for worker in served.workers:
        text = worker.request("GET", "/metrics").text
        assert 'hierbandits_rollout_share{policy="p"} 0.5' in text
        assert 'hierbandits_rolled_back{policy="p"} 0.0' in text
        assert 'hierbandits_guardrail_evidence{guardrail="errors",policy="p"} 0.005' in text


@pytest.mark.parametrize("seen_by", ["rewards", "exposures"])
@pytest.mark.parametrize("kind", ["alone", "shared"])
def test_exposures_that_are_missing_are_told_once(kind, seen_by, tmp_path, store_url):
    with rollout_service(kind, tmp_path, store_url) as served:
        assert served.put(RATIO | {"ratio_check": seen_by}).status_code == 200
        number = 0
        for lost in (False, True):
            made = served.decide(700, f"lost {lost} task")
            seen = [one["id"] for one in made if not (lost and one["arm"] == "y")]
            for _ in range(2):
                if seen_by == "rewards":
                    rows = [{"id": id, "value": 0.5} for id in seen]
                    assert served.post("rewards", {"rewards": rows}).status_code == 200
                    change = {"value": 0.6}  # a correction is no exposure
                    served.request("PUT", f"/policies/p/decisions/{seen[0]}/reward", json=change)
                else:
                    rows = [{"id": id, "values": {"exposure": 1}} for id in seen]
                    assert served.post("metrics", {"metrics": rows}).status_code == 200
                    served.post(f"decisions/{made[0]['id']}/reward", {"value": 0.5})
            number += len(seen)
            shown = served.rollout_when(lambda now, n=number: now["sample_ratio"]["count"] == n)
            assert shown["sample_ratio"]["is_off"] is lost
        arms = {one["arm"]: one for one in shown["sample_ratio"]["arms"]}
        assert arms["y"]["seen"] < arms["y"]["expected"] - 100
        alarm, created = served.audit()
        assert (alarm["what"], alarm["by"]) == ("sample ratio", "the sample-ratio check")
        assert created["what"] == "created"
        assert shown["phase"] == "none"  # it changes nothing by itself
        assert 'sample_ratio_off{policy="p"} 1.0' in served.request("GET", "/metrics").text
        assert served.put(RATIO).status_code == 200
        assert served.get("rollout")["sample_ratio"] is None


@pytest.fixture
def two(store_url):
    with books(store_url, 2) as both:
        both[0].put("shop", SHOP, "ana")
        yield [book.turns("shop").live for book in both], both[0].folder(both[0].turns("shop").live)


def measured_at_once(lives, made, luck, meanwhile):
    """Let each worker tell of all decisions at the same time, in an order of its own.

    `meanwhile` is called until all are done.
    """
    told, errors = [], []

    def tell(live, order):
        try:
            for first in range(0, len(order), 7):
                some = [made[i] for i in order[first : first + 7]]
                told.extend(live.measure(some))
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(target=tell, args=(live, luck.permutation(len(made)))) for live in lives
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        meanwhile()
    assert errors == []
    statuses = [(one.id, name, status) for one in told for name, status in one.values.items()]
    stored = [one[:2] for one in statuses if one[2] == "stored"]
    assert len(stored) == len(set(stored)) == sum(len(values) for _, values in made)


def judged(live):
    """What is kept of a rollout, and what its rows say, without the audit log."""
    kept = rollout_now(live._links.read, live.record.id)
    with live._links.transaction() as db:
        right = replayed(db, live.record.id)
    return [state.to_dict() | {"audit": []} for state in (kept, right)]


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_what_is_kept_is_what_the_rows_say_in_their_order(store_url, two, monkeypatch, rate):
    monkeypatch.setattr(shared_rollout, "_AT_ONCE", 17)
    lives, folder = two
    luck = np.random.default_rng(3)
    made = lives[0].decide([DecisionRequest(f"t{i % 30}") for i in range(150)])
    values = luck.random((150, 3)) < [rate, 0.5, 0.2]
    given = [
        (one.id, {"errors": float(a), "seconds": 3.0 * b, "refunds": float(c)})
        for one, (a, b, c) in zip(made, values, strict=True)
    ]
    measured_at_once([*lives, *lives], given, luck, folder.tick)
    lives[0].reward([(one.id, float(b)) for one, (_, b, _) in zip(made, values, strict=True)])
    while folder.tick():
        pass
    kept, right = judged(lives[1])
    assert kept == right
    read = lives[0]._links.read
    changes = changes_of(read, lives[0].record.id)
    whats = [event["what"] for _, event in changes]
    assert whats == ["created"] + ["rollback"] * (rate == 0.5)
    numbers = [number for (number,) in read("SELECT number FROM shared_metrics")]
    numbers += [number for number, _ in changes]
    shown = [one for one in made if one.group == "policy"]  # others could not have been another
    assert sorted(numbers) == list(range(1, 451 + len(shown) + len(changes)))
    assert sum(kept["ratio"]["seen"]) == len(shown)
    assert kept["watches"][0]["counts"][0] > 0
    (health,) = check_shared(store_url)
    assert health.faults == []


def test_a_task_that_is_deleted_leaves_no_metrics_and_the_rest_is_judged_anew(store_url, two):
    lives, folder = two
    made = lives[0].decide([DecisionRequest(f"t{i}") for i in range(30)])
    bad = [one for one in made if one.group == "policy"]
    given = [(one.id, {"errors": float(one is bad[0]), "seconds": 1.0}) for one in made]
    lives[1].measure(given)
    folder.tick()
    before = rollout_now(lives[0]._links.read, lives[0].record.id).watches["errors"].told()
    assert before["mean"] > 0
    assert folder.forget(task_key(f'"{bad[0].task}"')) == 1
    after = rollout_now(lives[0]._links.read, lives[0].record.id).watches["errors"].told()
    assert (after["count"], after["mean"]) == (before["count"] - 1, 0.0)
    (told,) = lives[1].measure([(bad[0].id, {"errors": 0.0})])
    assert told.status == 404
    lives[1].reward([(one.id, 1.0) for one in made])
    assert lives[0]._links.read("SELECT count(*) FROM shared_metrics WHERE name <> ''") == [(58,)]
    kept, right = judged(lives[0])
    assert kept == right
    (health,) = check_shared(store_url)
    assert health.faults == []


def test_metrics_that_came_before_a_change_are_taken_before_it(two):
    lives, folder = two
    made = lives[0].decide([DecisionRequest(f"t{i}") for i in range(40)])
    ids = [one.id for one in made if one.group == "policy"]
    lives[0].measure([(id, {"errors": 1.0}) for id in ids])
    act(folder, RolloutRequest("start", [RampStep(1.0)]), "ana")  # of a policy rolled back by then
    events = changes_of(lives[0]._links.read, lives[0].record.id)
    assert [event["what"] for _, event in events] == ["created", "rollback", "ramp"]
    state = rollout_now(lives[0]._links.read, lives[0].record.id)
    assert state.watches["errors"].told()["count"] == 0
    assert judged(lives[0])[0] == judged(lives[0])[1]


def test_a_guardrail_rolls_back_though_nothing_can_be_folded(store_url, monkeypatch):
    def fail(*args):
        raise ArithmeticError

    monkeypatch.setattr(SharedFolder, "fold", fail)
    with books(store_url) as (book,):
        book.put("shop", SHOP)
        live = book.turns("shop").live
        made = live.decide([DecisionRequest(f"t{i}") for i in range(30)])
        live.measure([(one.id, {"errors": 1.0}) for one in made])
        book.start()
        deadline = time.monotonic() + 30
        while rollout_now(book.links.read, live.record.id).ramp.phase != "rolled back":
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_a_rollback_stands_right_after_the_metric_that_crossed_the_guardrail(two):
    lives, folder = two
    made = lives[0].decide([DecisionRequest(f"t{i}") for i in range(40)])
    ids = [one.id for one in made if one.group == "policy"]
    lives[0].measure([(id, {"errors": 1.0, "seconds": 1.0}) for id in ids])
    folder.tick()
    read = lives[0]._links.read
    rows = read("SELECT number, name FROM shared_metrics ORDER BY number")
    names, number = [name for _, name in rows], changes_of(read, lives[0].record.id)[-1][0]
    assert number - 1 in [place for place, name in rows if name == b"errors"]
    state = rollout_now(read, lives[0].record.id)
    for guardrail in ("errors", "seconds"):  # what comes after it counts no more
        told = state.watches[guardrail].told()
        assert told["count"] == names[: number - 2].count(guardrail.encode()) < len(ids)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DELETE FROM shared_metrics WHERE name = 'errors'", "not what metrics say"),
        ("UPDATE shared_metrics SET value = 1 - value", "not what metrics say"),
        ("DELETE FROM shared_changes WHERE number = 1", "not what metrics say"),
        ("DELETE FROM shared_decisions", "60 metrics are of no decision"),
    ],
)
def test_doctor_finds_metrics_that_were_tampered_with(store_url, two, sql, words):
    lives, folder = two
    made = lives[0].decide([DecisionRequest(f"t{i}") for i in range(30)])
    lives[0].measure([(one.id, {"errors": 0.0, "refunds": 0.0}) for one in made])
    folder.tick()
    with psycopg.connect(store_url, options=f"-c search_path={SCHEMA}") as db:
        db.execute(sql)
    (health,) = check_shared(store_url)
    assert any(words in fault for fault in health.faults), health.faults
