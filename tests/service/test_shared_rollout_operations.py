"""Rollouts over HTTP are the same in one process alone and where workers share a store."""

import pytest
from support.rollout_services import rollout_service

SETTINGS = {"arms": ["x", "y"], "draws": 5, "control_arm": "x"}
STEPS = [{"share": 0.5, "seconds": 600}, {"share": 1}]
SOON = [{"share": 0.2, "seconds": 0.001}, {"share": 0.5, "seconds": 0.001}, {"share": 1}]


@pytest.fixture(params=["alone", "shared"])
def served(request, tmp_path, store_url):
    with rollout_service(request.param, tmp_path, store_url) as served:
        assert served.put(SETTINGS).json() == {"name": "p", "version": 1, "created": True}
        yield served


def whats(served):
    return [one["what"] for one in served.audit()][::-1]


def test_a_rollout_is_started_held_resumed_and_rolled_back(served):
    assert served.get("rollout")["phase"] == "none"
    started = served.post("rollout", {"action": "start", "steps": STEPS, "reason": "spring"}).json()
    assert (started["phase"], started["share"], started["step"]) == ("ramping", 0.5, 0)
    assert started["steps"][0] == STEPS[0]
    first = served.groups()
    assert set(first.values()) == {"policy", "control"}
    held = served.act("hold").json()
    assert (held["phase"], held["next_step"]) == ("held", None)
    resumed = served.act("resume").json()
    assert abs(resumed["next_step"] - started["next_step"]) < 60
    assert served.groups() == first
    assert served.act("rollback").json()["share"] == 0.0
    made = served.decide(20, "new")
    assert {(one["group"], one["arm"]) for one in made} == {("control", "x")}
    again = served.act("start", [{"share": 1}]).json()
    assert (again["phase"], again["share"]) == ("done", 1.0)
    assert set(served.groups().values()) == {"policy"}
    assert whats(served) == ["created", "ramp", "hold", "resume", "rollback", "ramp"]
    changes = served.audit()
    assert [one["by"] for one in changes] == ["anonymous"] * 6
    assert [one["event"] for one in changes] == sorted(one["event"] for one in changes)[::-1]
    assert changes[4]["reason"] == "spring"
    assert served.audit(params={"limit": 2, "offset": 3}) == changes[3:5]
    assert served.request("GET", "/policies/p/audit?offset=-1").status_code == 400
    for path in ("rollout", "audit"):
        assert served.request("GET", f"/policies/none/{path}").status_code == 404


def test_steps_that_are_due_are_taken_once(served):
    served.act("start", SOON)
    done = served.rollout_when(lambda shown: shown["phase"] == "done")
    assert (done["step"], done["next_step"]) == (2, None)
    assert whats(served) == ["created", "ramp", "step", "step"]
    steps = [one for one in served.audit() if one["what"] == "step"]
    assert [(one["share"], one["by"]) for one in steps] == [
        (1.0, "the schedule"), (0.5, "the schedule"),
    ]  # fmt: skip
    assert set(served.groups().values()) == {"policy"}


@pytest.mark.parametrize(
    ("done", "action", "words"),
    [
        ([], "hold", "'none', start it"),
        (["start"], "start", "'ramping', hold it"),
        (["start", "hold"], "hold", "'held', resume it"),
        (["rollback"], "rollback", "'rolled back', start another"),
    ],
)
def test_what_cannot_come_next_is_refused_and_changes_nothing(served, done, action, words):
    for one in done:
        assert served.act(one, STEPS if one == "start" else ()).status_code == 200
    before = served.get("rollout"), served.audit(), served.get("versions")
    refused = served.act(action, STEPS if action == "start" else ())
    assert (refused.status_code, refused.json()["code"]) == (409, "wrong_phase")
    assert words in refused.json()["detail"]
    assert (served.get("rollout"), served.audit(), served.get("versions")) == before


def test_settings_must_fit_a_rollout_and_a_rollout_the_settings(served):
    for body in (
        {"action": "start"},
        {"action": "rollback", "steps": STEPS},
        {"action": "start", "steps": [{"share": 0.5}, {"share": 0.4}]},
        {"action": "rollback", "reason": "x" * 1001},
    ):
        assert served.post("rollout", body).status_code == 400
    plain = {name: value for name, value in SETTINGS.items() if name != "control_arm"}
    assert served.put(plain).status_code == 200
    refused = served.act("start", STEPS)
    assert (refused.status_code, refused.json()["code"]) == (409, "no_control_arm")
    assert served.put(SETTINGS).status_code == 200
    served.act("rollback")
    refused = served.put(plain)
    assert (refused.status_code, refused.json()["code"]) == (409, "rollout")
    assert served.put(SETTINGS | {"floor": 0.2}).status_code == 200  # it stays rolled back
    assert set(served.groups().values()) == {"control"}
    gone = served.request("DELETE", "/policies/p/arms/x")
    assert gone.status_code == 400
    assert whats(served) == ["created", "settings", "settings", "rollback", "settings"]


def test_everything_that_changes_a_policy_is_in_the_audit_log(served):
    served.decide(3)
    served.put(SETTINGS | {"floor": 0.1})
    served.put(SETTINGS | {"floor": 0.1})
    assert served.post("arms", {"name": "z"}).status_code == 200
    assert served.request("DELETE", "/policies/p/arms/z").status_code == 200
    assert served.request("DELETE", "/policies/p/tasks/task 1").status_code == 200
    served.act("rollback")
    changes = served.audit()[::-1]
    assert [one["what"] for one in changes] == [
        "created", "settings", "add arm", "retire arm", "task deleted", "rollback",
    ]  # fmt: skip
    assert [one["arm"] for one in changes if "arm" in one] == ["z", "z"]
    assert set(changes[4]) == {"event", "time", "what", "by"}
    versions = [one.get("version") for one in changes]
    assert versions == ([1, 2, 3, 4, None, 5] if served.shares else [1, 2] + [None] * 4)
    assert served.get("audit")["total"] == 6


@pytest.mark.parametrize("kind", ["alone", "shared"])
def test_who_changed_what_is_the_name_of_a_token(kind, tmp_path, store_url):
    with rollout_service(kind, tmp_path, store_url, needs_tokens=True) as served:
        book = served.workers[0].service.tokens
        tokens = {
            name: book.create(name, [scope], None, 0.0)
            for name, scope in (("ana", "admin"), ("bob", "read"), ("web", "reward"))
        }
        for worker in served.workers:
            worker.service.tokens.refresh()
        served.put(SETTINGS, token=tokens["ana"])
        served.post("arms", {"name": "z"}, token=tokens["ana"])
        for name, status in (("bob", 403), ("web", 403), ("ana", 200)):
            assert served.act("rollback", token=tokens[name]).status_code == status
        changes = served.audit(token=tokens["bob"])
        assert [(one["what"], one["by"]) for one in changes] == [
            ("rollback", "ana"), ("add arm", "ana"), ("created", "ana"),
        ]  # fmt: skip
