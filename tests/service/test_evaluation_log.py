import logging

import pytest

from hierbandits.service.evaluation_log import log_evaluation
from hierbandits.service.wire import DecisionReply


@pytest.fixture
def lines(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("hierbandits.service"), "propagate", True)
    caplog.set_level(logging.INFO, "hierbandits.service")
    return lambda: [(record.message, record.parts) for record in caplog.records]


def test_a_decision_is_an_event_with_the_attributes_of_opentelemetry(lines):
    log_evaluation("shop", DecisionReply("1.0.aa", "ada", "blue", 0.6, 3))
    ((message, parts),) = lines()
    assert message == "feature_flag.evaluation"
    assert parts == {
        "event.name": "feature_flag.evaluation",
        "feature_flag.key": "shop",
        "feature_flag.result.variant": "blue",
        "feature_flag.result.reason": "split",
        "feature_flag.context.id": "ada",
        "feature_flag.version": "3",
        "feature_flag.provider.name": "hierbandits",
        "decision.id": "1.0.aa",
    }


@pytest.mark.parametrize(
    ("group", "reason"), [("control", "split"), ("sticky", "cached"), ("shadow", "static")]
)
def test_a_group_has_its_reason(lines, group, reason):
    log_evaluation("shop", DecisionReply("1.0.aa", ["se", 7], 2, None, 3, group))
    ((_, parts),) = lines()
    assert parts["feature_flag.result.reason"] == reason
    assert parts["feature_flag.context.id"] == "se/7"
    assert parts["feature_flag.result.variant"] == "2"


def test_a_decision_that_is_told_again_is_no_event(lines):
    log_evaluation("shop", DecisionReply("k", "ada", "blue", 0.6, 3, duplicate=True))
    assert lines() == []
