"""Replies as records: unknown parts are left out, missing ones are an error."""

import pytest

from hierbandits.client.client_errors import Conflict, ServiceError, Unavailable
from hierbandits.client.client_replies import (
    RewardInterval,
    RewardReceipt,
    ServedDecision,
    candidate_evaluation,
    record,
    records,
    task_belief,
    task_page,
)
from hierbandits.service.api_examples import EXAMPLES

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


RUNNING = {"id": "e", "policy": "shop", "state": "running", "started": 1.0, "seconds": 0.5}
FINDINGS = EXAMPLES["show_evaluation"][1]["findings"]


def test_an_evaluation_has_findings_all_the_way_down():
    found = candidate_evaluation(RUNNING | {"state": "done", "findings": FINDINGS, "problem": None})
    told = found.result()
    assert told.better_than_log is True
    assert told.policies[0].over_log == RewardInterval(0.021, 0.011, 0.031)
    assert told.policies[0].arms is None
    assert told.warnings == ()
    assert candidate_evaluation(RUNNING).result() is None


@pytest.mark.parametrize(
    ("status", "kind"), [(409, Conflict), (503, Unavailable), (500, ServiceError)]
)
def test_an_evaluation_without_findings_is_an_error(status, kind):
    problem = {"status": status, "code": "why", "title": "T", "detail": "the words"}
    ended = candidate_evaluation(RUNNING | {"state": "refused", "problem": problem})
    with pytest.raises(kind, match="the words") as error:
        ended.result()
    assert (error.value.status, error.value.code) == (status, "why")


@pytest.mark.parametrize("parts", [None, {}, RUNNING | {"findings": {}}, RUNNING | {"findings": 3}])
def test_an_evaluation_that_is_none_is_not_understood(parts):
    with pytest.raises(ServiceError, match="the reply must be of a hierbandits service"):
        candidate_evaluation(parts)
