"""A rollout as its events say."""

import json

from hierbandits.service.rollout_state import FALSE_ALARMS, RolloutState
from hierbandits.service.stored_event import encoded

WATCH = {
    "guardrails": [{"name": "errors", "at_most": 0.1}, {"name": "seconds", "at_most": 0.5}],
    "counts": "rewards",
    "arms": ["a", "b"],
}
SHOWN = ["a", ["a", "b"], [0.5, 0.5]]


def change(what, **parts):
    return {"kind": "change", "time": 1.0, "what": what, "by": "ana", **parts}


def measure(*rows):
    ids, names, values, groups = zip(*rows, strict=True)
    parts = {"ids": ids, "names": names, "values": values, "groups": groups}
    return {"kind": "measure", "time": 2.0, **parts}


def stored(*events):
    return [(number, encoded(event)) for number, event in enumerate(events, start=1)]


def after(*events):
    state = RolloutState()
    state.take(stored(*events))
    return state


def test_events_of_others_say_nothing():
    state = after(
        {"kind": "decide", "time": 1.0, "decisions": []},
        {"kind": "reward", "time": 1.0, "ids": ["x"], "values": [1.0], "shown": [SHOWN]},
        {"kind": "erased", "time": 1.0},
    )
    assert state.to_dict() == RolloutState().to_dict()


def test_guardrails_share_the_false_alarms():
    state = after(change("created", watch=WATCH))
    needed = [watch.told()["needed"] for watch in state.watches.values()]
    assert needed == [2 / FALSE_ALARMS] * 2


def test_only_decisions_by_the_policy_count():
    rows = [("x", "errors", 1.0, group) for group in ("policy", "sticky", "control", "shadow")]
    state = after(change("created", watch=WATCH), measure(*rows, ("y", "other", 1.0, "policy")))
    assert {n: watch.told()["count"] for n, watch in state.watches.items()} == {
        "errors": 2, "seconds": 0,
    }  # fmt: skip


def test_what_comes_after_a_rollback_is_nobodys_fault():
    rows = [("x", "errors", 1.0, "policy")]
    state = after(change("created", watch=WATCH), change("rollback"), measure(*rows))
    assert state.watches["errors"].told()["count"] == 0
    assert state.crossed is None


def test_rewards_count_as_exposures_if_settings_say_so():
    reward = {"kind": "reward", "time": 1.0, "ids": "xy", "values": [1.0] * 2}
    late = {"kind": "learn", "time": 1.0, "late": "z", "shown": [SHOWN]}
    state = after(change("created", watch=WATCH), reward | {"shown": [SHOWN, None]}, late)
    assert state.ratio.count == 2
    state.take(stored(change("settings", policy_version=2, watch=WATCH | {"counts": "none"})))
    assert state.ratio is None


def test_a_ratio_alarm_is_told_once():
    state = after(change("created", watch=WATCH))
    exposure = {"kind": "reward", "time": 1.0, "ids": "x", "values": [1.0], "shown": [SHOWN]}
    while not state.is_ratio_off:
        state.take(stored(exposure))
    assert 10 < state.ratio.count < 1000
    state.take(stored(change("sample ratio")))
    assert state.ratio_alarm
    assert not state.is_ratio_off


def test_changes_of_arms_are_in_the_audit_log():
    state = after({"kind": "add_arm", "time": 1.0, "name": "z", "by": "ana"},
                  {"kind": "retire_arm", "time": 2.0, "name": "z"})  # fmt: skip
    assert state.audit == [
        {"event": 1, "what": "add arm", "arm": "z", "time": 1.0, "by": "ana"},
        {"event": 2, "what": "retire arm", "arm": "z", "time": 2.0, "by": None},
    ]


def test_it_goes_on_after_a_file_bit_for_bit():
    reward = {"kind": "reward", "time": 1.0, "ids": "x", "values": [1.0], "shown": [SHOWN]}
    first = [change("created", watch=WATCH), reward, measure(("x", "errors", 0.3, "policy"))]
    then = [change("ramp", steps=[[0.1, 5.0], [1.0, None]]), reward, change("hold")]
    then.append(measure(("y", "errors", 0.7, "policy"), ("y", "seconds", 0.1, "policy")))
    state = RolloutState.from_dict(json.loads(json.dumps(after(*first).to_dict())))
    state.take((number + 3, data) for number, data in stored(*then))
    assert state.to_dict() == after(*first, *then).to_dict()
    other = RolloutState()
    other.become(state)
    assert other.to_dict() == state.to_dict()


def test_only_the_version_that_a_candidate_is_ramped_from_is_the_other_side():
    """A reward of an earlier ramp comes late: its version before was another one."""
    state = RolloutState()
    state.ramp.start([[0.5, 60.0], [1.0, None]], 0.0, 4)
    assert state.side("previous", 4) == "previous"
    assert state.side("previous", 3) == "earlier"
