"""Replies as records: unknown parts are left out, missing ones are an error."""

import pytest

from hierbandits.client.client_errors import ServiceError
from hierbandits.client.client_replies import (
    RewardReceipt,
    ServedDecision,
    record,
    records,
    task_belief,
    task_page,
)

DECISION = {"id": "a", "task": ["r", 1], "arm": "x", "propensity": None, "version": 2}


def test_a_record_has_its_parts():
    decision = record(ServedDecision, DECISION | {"something": "new"})
    assert decision == ServedDecision("a", ("r", 1), "x", None, 2)
    assert hash(decision)
    assert records(RewardReceipt, [{"id": "a", "status": "learned"}]) == [
        RewardReceipt("a", "learned")
    ]


@pytest.mark.parametrize("reply", [None, [], "text", {}, {"id": "a"}, {**DECISION, "id": ...}])
def test_a_reply_of_another_service_is_named(reply):
    if isinstance(reply, dict) and reply.get("id") is ...:
        del reply["id"]
    with pytest.raises(ServiceError, match="must be of a hierbandits service, got"):
        record(ServedDecision, reply)
    with pytest.raises(ServiceError, match="must be of a hierbandits service, got"):
        records(ServedDecision, {"rows": reply})


def test_paths_of_names_are_tuples():
    assert task_page({"total": 2, "tasks": ["a", ["r", 1]]}).tasks == ("a", ("r", 1))
    row = dict.fromkeys(("mean", "low", "high", "within_var", "shared_var"), 0.5) | {"rewards": 1}
    parts = {"task": ["r", 1], "confidence": 0.95, "decisions": 3, "rows": [row | {"arm": "x"}]}
    belief = task_belief(parts)
    assert (belief.task, belief.rows[0].arm, belief.rows[0].feature) == (("r", 1), "x", None)
