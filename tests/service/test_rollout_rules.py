"""What may come next in a rollout, what is watched, and what raises an alarm."""

import pytest

from hierbandits.service.api_problem import Problem
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import Ramp, RampStep
from hierbandits.service.rollout_rules import (
    alarms,
    check_act,
    check_settings,
    is_watched_anew,
    watched,
)
from hierbandits.service.rollout_state import RolloutState

ERRORS = Guardrail(name="errors", at_most=0.1)
PLAIN = PolicySettings(arms=["a", "b"])
SAFE = PolicySettings(arms=["a", "b"], control_arm="a", guardrails=[ERRORS])
STEPS = [RampStep(0.5, 60.0), RampStep(1.0)]


def test_a_ramp_needs_a_control_arm_unless_it_is_from_a_version():
    check_act(Ramp(), SAFE, "start", STEPS, "")
    check_act(Ramp(), PLAIN, "start", STEPS, "", is_from_version=True)
    with pytest.raises(Problem, match="control_arm must be a setting to start"):
        check_act(Ramp(), PLAIN, "start", STEPS, "")
    with pytest.raises(Problem, match="the rollout is 'none', start it"):
        check_act(Ramp(), SAFE, "hold", [], "")
    with pytest.raises(Problem, match="reason must have at most 1000"):
        check_act(Ramp(), SAFE, "rollback", [], "x" * 1001)


def test_settings_must_keep_a_control_arm_that_some_tasks_have():
    ramp = Ramp()
    check_settings(ramp, PLAIN)
    ramp.start([(0.5, None)], 0.0)
    check_settings(ramp, SAFE)
    with pytest.raises(Problem, match="must stay while the rollout is 'done'"):
        check_settings(ramp, PLAIN)


def test_only_other_guardrails_or_another_check_are_watched_anew():
    assert not is_watched_anew(None, PLAIN)
    assert is_watched_anew(None, SAFE)
    assert is_watched_anew(PLAIN, SAFE)
    assert not is_watched_anew(SAFE, SAFE)
    assert watched(PLAIN, None) == {"guardrails": [], "counts": "none", "arms": []}
    parts = watched(SAFE, ("a", "b"), since=3)
    assert (parts["since"], parts["arms"]) == (3, ["a", "b"])
    assert parts["guardrails"][0]["name"] == "errors"


def test_alarms_are_of_the_state_when_it_is_their_turn():
    state = RolloutState()
    assert list(alarms(state)) == []
    watch = watched(SAFE, ["a", "b"]) | {"counts": "rewards"}
    state.apply(1, {"kind": "change", "what": "created", "time": 1.0, "by": "ana", "watch": watch})
    for _ in range(400):
        state.watches["errors"].add(1.0)
        state.ratio.add("a", ["a", "b"], [0.5, 0.5])
    first, second = alarms(state)
    assert first[:2] == ("rollback", "the guardrail errors")
    assert first[2]["mean"] == 1.0
    assert second[:2] == ("sample ratio", "the sample-ratio check")
    assert second[2]["count"] == 400
    found = alarms(state)
    assert next(found)[0] == "rollback"
    state.ratio_alarm = True
    assert list(found) == []
