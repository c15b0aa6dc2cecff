"""The calls of rollouts as requests, and what they read."""

import json

from support.local_services import LocalService

from hierbandits.client import rollout_calls

SETTINGS = {
    "arms": ["x", "y"], "control_arm": "x", "guardrails": [{"name": "errors", "at_most": 0.1}],
}  # fmt: skip


def test_bodies_have_what_was_given():
    started = rollout_calls.start_rollout("p", [(0.1, 60.0), (1.0, None)], "why")
    assert json.loads(started.body) == {
        "action": "start", "reason": "why",
        "steps": [{"share": 0.1, "seconds": 60.0}, {"share": 1.0, "seconds": None}],
    }  # fmt: skip
    promoted = rollout_calls.promote("p", "evaluate", candidate={"rule": "HierTS"})
    assert json.loads(promoted.body)["candidate"] == {"rule": "HierTS"}
    assert rollout_calls.measure("p", "a/b", {"errors": 1.0}).path.endswith("a%2Fb/metrics")


def test_only_what_may_be_sent_twice_is_repeated():
    assert rollout_calls.measure("p", "i", {"errors": 1.0}).repeatable
    assert rollout_calls.rollout("p").repeatable
    assert not rollout_calls.change_rollout("p", "hold").repeatable
    assert not rollout_calls.promote("p", "drop").repeatable


def test_a_service_understands_them_and_they_its_answers(tmp_path):
    with LocalService(tmp_path / "data") as local:

        def send(request):
            reply = local.request(
                request.method, request.path, content=request.body, params=request.query
            )
            assert reply.status_code == 200, reply.text
            return request.read(reply.json())

        local.request("PUT", "/policies/p", json=SETTINGS)
        made = local.request("POST", "/policies/p/decisions", json={"task": "t"}).json()
        receipt = send(rollout_calls.measure("p", made["id"], {"errors": 0.0}))
        assert (receipt.id, receipt.values) == (made["id"], {"errors": "stored"})
        info = send(rollout_calls.start_rollout("p", [(0.1, 60.0), (1.0, None)]))
        assert (info.phase, info.share, info.steps[1]["share"]) == ("ramping", 0.1, 1.0)
        assert send(rollout_calls.change_rollout("p", "hold", "why")).phase == "held"
        assert send(rollout_calls.rollout("p")).guardrails[0]["name"] == "errors"
        page = send(rollout_calls.audit("p", limit=2))
        assert (page.total, [one["what"] for one in page.changes]) == (3, ["hold", "ramp"])
        assert send(rollout_calls.promotion("p")).next == "evaluate"
