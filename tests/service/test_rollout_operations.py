"""Rollouts over HTTP: who did what, refusals, metrics, and what is kept over a restart."""

import pytest
from support.local_services import LocalService

from hierbandits.service.rollout_operations import audit_of
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.storage import VersionRecord

SETTINGS = {
    "arms": ["x", "y"], "draws": 5, "control_arm": "x", "ratio_check": "rewards",
    "guardrails": [{"name": "errors", "at_most": 0.1}, {"name": "seconds", "at_most": 2.0,
                                                        "high": 30.0}],
}  # fmt: skip
STEPS = [{"share": 0.5, "seconds": 60}, {"share": 1}]


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def local(tmp_path, clock):
    with LocalService(tmp_path / "data", clock=clock) as local:
        assert local.request("PUT", "/policies/p", json=SETTINGS).status_code == 200
        yield local


def get(local, path, **options):
    return local.request("GET", f"/policies/p/{path}", **options).json()


def post(local, path, body, **options):
    return local.request("POST", f"/policies/p/{path}", json=body, **options)


def decide(local, task="t"):
    return post(local, "decisions", {"task": task}).json()


def test_a_rollout_from_start_to_rollback(local, clock):
    before = get(local, "rollout")
    assert (before["phase"], before["share"], before["steps"]) == ("none", 1.0, [])
    started = post(local, "rollout", {"action": "start", "steps": STEPS, "reason": "spring"})
    assert (started.json()["share"], started.json()["next_step"]) == (0.5, clock.now + 60)
    clock.now += 61
    local.run(local.service._step())
    assert get(local, "rollout")["phase"] == "done"
    refused = post(local, "rollout", {"action": "hold"})
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_phase")
    for value in range(20):
        one = decide(local, f"task {value}")
        post(local, f"decisions/{one['id']}/reward", {"value": 1, "metrics": {"errors": 1}})
    shown = get(local, "rollout")
    assert (shown["phase"], shown["share"]) == ("rolled back", 0.0)
    errors, seconds = shown["guardrails"]
    assert errors["is_crossed"]
    assert seconds["count"] == 0
    assert decide(local)["group"] == "control"
    changes = get(local, "audit")["changes"]
    assert [one["what"] for one in changes] == ["rollback", "step", "ramp", "created"]
    by = ["the guardrail errors", "the schedule", "anonymous", "anonymous"]
    assert [one["by"] for one in changes] == by
    assert changes[2]["reason"] == "spring"
    assert get(local, "audit", params={"limit": 1, "offset": 1})["changes"] == changes[1:2]
    assert local.request("GET", "/policies/p/audit?limit=x").status_code == 400


def test_everything_is_there_after_a_restart(tmp_path, clock):
    folder = tmp_path / "data"
    with LocalService(folder, clock=clock) as local:
        local.request("PUT", "/policies/p", json=SETTINGS)
        post(local, "rollout", {"action": "start", "steps": STEPS})
        one = decide(local)
        post(local, f"decisions/{one['id']}/reward", {"value": 1})
        post(local, f"decisions/{one['id']}/metrics", {"values": {"seconds": 3.0}})
        told = get(local, "rollout"), get(local, "audit")
    assert list((folder / "snapshots").glob("*.rollout"))
    for _ in range(2):
        with LocalService(folder, clock=clock) as local:
            assert (get(local, "rollout"), get(local, "audit")) == told
            again = post(local, f"decisions/{one['id']}/metrics", {"values": {"seconds": 3.0}})
            assert again.json()["values"] == {"seconds": "duplicate"}
        for path in (folder / "snapshots").iterdir():
            path.unlink()


def test_metrics_come_with_rewards_or_after_them(local):
    ids = [decide(local, f"task {n}")["id"] for n in range(3)]
    reply = post(local, f"decisions/{ids[0]}/reward", {"value": 1, "metrics": {"seconds": 3}})
    assert reply.json() == {"id": ids[0], "status": "learned"}
    wrong = post(local, f"decisions/{ids[1]}/reward", {"value": 1, "metrics": {"nonsense": 3}})
    assert wrong.status_code == 400
    assert get(local, f"decisions/{ids[1]}")["reward"] is None
    rows = [
        {"id": ids[1], "value": 1, "metrics": {"seconds": 1}},
        {"id": "nobody", "value": 1, "metrics": {"seconds": 1}},
        {"id": ids[2], "value": 1},
        {"id": ids[0], "value": 1, "metrics": {"seconds": 4}},
    ]
    told = post(local, "rewards", {"rewards": rows}).json()["rewards"]
    assert [one["status"] for one in told] == ["learned", 404, "learned", 409]
    rows = [{"id": id, "values": {"errors": 0}} for id in (ids[2], "nobody")]
    many = post(local, "metrics", {"metrics": rows})
    assert many.json()["metrics"][0] == {"id": ids[2], "values": {"errors": "stored"}}
    assert many.json()["metrics"][1]["status"] == 404
    assert post(local, "metrics", {"metrics": []}).status_code == 400
    assert post(local, f"decisions/{ids[2]}/metrics", {"values": {}}).status_code == 400
    counts = {one["name"]: one["count"] for one in get(local, "rollout")["guardrails"]}
    assert counts == {"errors": 1, "seconds": 2}
    assert get(local, "rollout")["sample_ratio"]["count"] == 3


def test_who_changed_what_is_the_name_of_a_token(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:
        tokens = {
            name: local.service.tokens.create(name, [scope], None, 0.0)
            for name, scope in (("ana", "admin"), ("bob", "read"), ("web", "reward"))
        }
        local.request("PUT", "/policies/p", token=tokens["ana"], json=SETTINGS)
        local.request("POST", "/policies/p/arms", token=tokens["ana"], json={"name": "z"})
        action = {"action": "rollback"}
        for name, status in (("bob", 403), ("web", 403), ("ana", 200)):
            assert post(local, "rollout", action, token=tokens[name]).status_code == status
        changes = get(local, "audit", token=tokens["bob"])["changes"]
        assert [(one["what"], one["by"]) for one in changes] == [
            ("rollback", "ana"), ("add arm", "ana"), ("created", "ana"),
        ]  # fmt: skip


def test_flags_change_their_tag_when_a_policy_is_rolled_back(local):
    body = {"context": {"targetingKey": "ada"}}
    first = local.request("POST", "/ofrep/v1/evaluate/flags", json=body)
    headers = {"if-none-match": first.headers["etag"]}
    again = local.request("POST", "/ofrep/v1/evaluate/flags", json=body, headers=headers)
    assert again.status_code == 304
    post(local, "rollout", {"action": "rollback"})
    last = local.request("POST", "/ofrep/v1/evaluate/flags", json=body, headers=headers)
    assert last.json()["flags"][0]["value"] == "x"


def test_metrics_for_prometheus_say_how_far_it_is(local):
    post(local, "rollout", {"action": "start", "steps": STEPS})
    text = local.request("GET", "/metrics").text
    assert 'hierbandits_rollout_share{policy="p"} 0.5' in text
    assert 'hierbandits_rolled_back{policy="p"} 0.0' in text
    assert 'hierbandits_guardrail_evidence{guardrail="errors",policy="p"} 0.005' in text
    assert 'hierbandits_sample_ratio_off{policy="p"} 0.0' in text
    assert "hierbandits_ready 1.0" in text


def test_versions_from_before_the_audit_log_are_in_it(local):
    state = RolloutState()
    state.audit = [{"event": 9, "time": 3.0, "what": "settings", "by": "ana", "version": 3}]
    versions = [VersionRecord(n, b"{}", after, 1.0) for n, after in ((1, 0), (2, 5), (3, 8))]
    told = [(one["event"], one["what"], one["by"]) for one in audit_of(state, versions)]
    assert told == [(0, "created", None), (5, "settings", None), (9, "settings", "ana")]


def test_the_audit_says_that_a_task_was_deleted_and_not_which(local):
    decide(local, "secret-name")
    decide(local, "other")
    assert local.request("DELETE", "/policies/p/tasks/secret-name").status_code == 200
    changes = get(local, "audit")["changes"]
    assert (changes[0]["what"], changes[0]["by"]) == ("task deleted", "anonymous")
    assert set(changes[0]) == {"what", "by", "event", "time"}
    ledger = local.service.storage
    (record,) = ledger.policies()
    assert not any(b"secret-name" in data for _, data in ledger.events(record.id))
    state = RolloutState()
    state.take(ledger.events(record.id))
    assert state.to_dict() == local.service.book.turns("p").live.rollout.state.to_dict()
