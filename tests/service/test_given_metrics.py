"""What is answered to metrics of decisions, and what an exposure says."""

import pytest

from hierbandits.service.given_metrics import answer_metrics, exposure_of
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings

SAFE = PolicySettings(
    arms=["a"], control_arm="a",
    guardrails=[Guardrail(name="errors", at_most=0.1), Guardrail(name="clicks", at_least=0.2)],
)  # fmt: skip
EXPOSED = PolicySettings(arms=["a"], ratio_check="exposures")


def test_new_metrics_are_rows_and_known_ones_are_not():
    known = {("x", "errors"): 0.5}
    given = [("x", {"errors": 0.5, "clicks": 1.0}), ("y", {"errors": 0.0}), ("y", {"errors": 0.0})]
    outcomes, rows = answer_metrics(given, {"x", "y"}, known, SAFE)
    assert [one.values for one in outcomes] == [
        {"errors": "duplicate", "clicks": "stored"}, {"errors": "stored"}, {"errors": "duplicate"},
    ]  # fmt: skip
    assert rows == [("x", "clicks", 1.0), ("y", "errors", 0.0)]
    assert known[("y", "errors")] == 0.0


@pytest.mark.parametrize(
    ("id", "values", "status"),
    [
        ("none", {"errors": 0.0}, 404),
        ("x", {"errors": 0.5, "other": 1.0}, 400),
        ("x", {"errors": -1.0}, 400),
        ("x", {"clicks": 2.0}, 400),
        ("x", {"exposure": 1.0}, 400),
        ("x", {"clicks": 1.0, "errors": 0.6}, 409),
    ],
)
def test_if_one_metric_of_a_decision_is_wrong_none_is_a_row(id, values, status):
    known = {("x", "errors"): 0.5}
    (problem,), rows = answer_metrics([(id, values)], {"x"}, known, SAFE)
    assert (problem.status, rows, known) == (status, [], {("x", "errors"): 0.5})


def test_exposures_are_metrics_where_they_are_what_says_that_a_decision_was_shown():
    (told,), rows = answer_metrics([("x", {"exposure": 7.0})], {"x"}, {}, EXPOSED)
    assert (told.values, rows) == ({"exposure": "stored"}, [("x", "exposure", 7.0)])
    parts = {"arm": "a", "offered": ["a", "b"]}
    assert exposure_of(parts) is None
    assert exposure_of(parts | {"odds": [0.4, 0.6]}) == ["a", ["a", "b"], [0.4, 0.6]]
