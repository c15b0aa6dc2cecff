"""Answers where a policy has no new one."""

import pytest

from hierbandits.service.policy_answers import answer_again, answer_correction, answer_late, refusal
from hierbandits.service.wire import DecisionRequest

PARTS = {
    "id": "x", "task": "u", "arm": "a", "propensity": 0.5, "policy_version": 3, "gap": 0.1,
    "reward": None, "provisional": False,
}  # fmt: skip


def test_a_decision_that_was_made_before():
    reply = answer_again(DecisionRequest(["u"], id="x"), PARTS)
    assert (reply.arm, reply.version, reply.group, reply.duplicate) == ("a", 3, "policy", True)
    assert answer_again(DecisionRequest("other", id="x"), PARTS).code == "id_taken"
    assert answer_again(DecisionRequest("u", id="x"), None).code == "erased"


@pytest.mark.parametrize(
    ("parts", "late", "correction"),
    [
        ({"reward": 1.0}, "duplicate", "duplicate"),
        ({"reward": 2.0}, "conflict", None),
        ({"reward": 1.0, "provisional": True}, None, None),
        ({"reward": 2.0, "provisional": True}, None, None),
        ({}, None, "no_reward_yet"),
    ],
)
def test_a_reward_of_what_is_forgotten(parts, late, correction):
    for answer, expected in ((answer_late, late), (answer_correction, correction)):
        found = answer(PARTS | parts, 1.0)
        assert expected == (found and getattr(found, "code", found.status))


def test_what_the_library_refuses():
    assert refusal(ValueError("nonsense")).status == 400
    full = refusal(ValueError("pending decisions must be at most 3"))
    assert (full.status, full.retry_after) == (429, 1.0)
