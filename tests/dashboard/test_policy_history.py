"""The history of a policy against plain sums over all of its events."""

import json

import numpy as np
import pytest

from hierbandits.dashboard import policy_history
from hierbandits.dashboard.policy_history import OTHERS, PolicyHistory


def decide(time, *decisions):
    return {"kind": "decide", "time": time, "decisions": list(decisions)}


def one(id, arm="a", **more):
    return {"id": id, "arm": arm, "expected": 0.5, "expected_std": 0.1} | more


def reward(time, **values):
    return {"kind": "reward", "time": time, "ids": list(values), "values": list(values.values())}


def expire(time, default, *ids):
    return {"kind": "expire", "time": time, "default": default, "ids": list(ids)}


def history(*events):
    found = PolicyHistory()
    found.follow(enumerate(events, start=1))
    return found


def sums(found, part="groups", name="policy"):
    """Decisions, rewards, their sum and the sum of squares, over all time."""
    rows = [point[part].get(name, [0.0] * 4) for point in found.to_dict()["curve"]]
    return np.sum(rows, axis=0).tolist()


def test_a_reward_counts_when_its_decision_was_made():
    found = history(decide(0.0, one("x"), one("y", "b")), reward(7200.0, x=2.0)).to_dict()
    (point,) = found["curve"]
    assert point["time"] == 0.0
    assert point["groups"] == {"policy": [2, 1, 2.0, 4.0]}
    assert point["arms"] == {"a": [1, 1, 2.0, 4.0], "b": [1, 0, 0, 0]}
    assert found["counts"]["rewarded"] == 1
    assert found["waiting"] == 1
    assert found["delays"] == [(8192.0, 1)]


def test_control_and_shadow_decisions_are_told_apart():
    found = history(
        decide(0.0, one("x", group="control"), one("y", "b", group="shadow", would="c")),
        reward(1.0, x=1.0, y=3.0),
    )
    assert sums(found, name="control") == [1, 1, 1.0, 1.0]
    assert sums(found, name="shadow") == [1, 1, 3.0, 9.0]
    assert sums(found, "arms", "a") == [0, 0, 0, 0]  # control is no choice of the policy
    assert sums(found, "arms", "c") == [1, 0, 0, 0]  # it would have been played
    assert sums(found, "arms", "b") == [0, 0, 0, 0]


def test_a_default_is_replaced_by_the_reward_that_comes_late():
    found = history(decide(0.0, one("x")), expire(10.0, 0.25, "x"))
    assert sums(found) == [1, 1, 0.25, 0.0625]
    assert found.to_dict()["calibration"] == []  # a default is no reward
    found.follow([(3, reward(20.0, x=1.0))])
    assert sums(found) == [1, 1, 1.0, 1.0]
    assert found.counts | {"defaulted": 1, "late": 1, "rewarded": 1} == found.counts
    assert found.to_dict()["calibration"] == [[1, 0.5, pytest.approx(0.01), 1.0, 1.0]]


def test_a_decision_that_was_given_up_learns_its_late_reward():
    late = {"kind": "learn", "time": 30.0, "late": "x", "tasks": ["t"], "rewards": [2.0]}
    found = history(decide(0.0, one("x")), expire(10.0, None, "x"), late)
    assert sums(found) == [1, 1, 2.0, 4.0]
    assert found.counts | {"dropped": 1, "late": 1, "rewarded": 1} == found.counts


def test_a_correction_takes_the_place_of_the_reward():
    correct = {"kind": "correct", "time": 3.0, "id": "x", "value": 5.0}
    found = history(decide(0.0, one("x")), reward(1.0, x=1.0), correct)
    assert sums(found) == [1, 1, 5.0, 25.0]
    assert found.to_dict()["calibration"] == [[1, 0.5, pytest.approx(0.01), 5.0, 25.0]]
    assert found.counts["corrected"] == 1


def test_what_is_erased_or_of_no_account_is_passed_over():
    events = [decide(0.0, None, one("x")), {"kind": "erased", "time": 1.0}]
    events += [{"kind": "add_arm", "time": 2.0, "name": "z"}]
    found = history(*events, {"kind": "learn", "time": 3.0, "tasks": ["t"], "rewards": [1.0]})
    assert found.number == 4
    assert found.counts | {"decisions": 1, "elsewhere": 1} == found.counts


def random_events(rng, size):
    time, waiting, number = 1e9, [], 0
    for _ in range(size):
        time += float(rng.exponential(50.0))
        if rng.random() < 0.6 or not waiting:
            made = []
            for _ in range(rng.integers(1, 4)):
                number += 1
                group = {} if rng.random() < 0.7 else {"group": "control"}
                made.append(one(f"d{number}", f"arm {rng.integers(3)}", **group))
                waiting.append(f"d{number}")
            yield decide(time, *made)
        else:
            chosen = [waiting.pop(rng.integers(len(waiting)))]
            if rng.random() < 0.3:
                yield expire(time, 0.0, *chosen)
            else:
                yield reward(time, **dict.fromkeys(chosen, float(rng.normal())))


@pytest.mark.parametrize("seed", range(3))
def test_saved_and_restored_anywhere_it_is_the_same(seed):
    events = list(enumerate(random_events(np.random.default_rng(seed), 400), start=1))
    whole, parts = PolicyHistory(), PolicyHistory()
    whole.follow(events)
    for first in range(0, 400, 57):
        parts.follow(events[first : first + 57])
        parts = PolicyHistory.from_state(json.loads(json.dumps(parts.state())))
    assert json.dumps(parts.to_dict()) == json.dumps(whole.to_dict())
    assert len(whole.to_dict()["curve"]) <= policy_history.MOST_BUCKETS
    assert len(whole.to_dict()["calibration"]) <= policy_history.MOST_BINS


def test_memory_is_bounded_and_old_rewards_are_counted_as_such(monkeypatch):
    monkeypatch.setattr(policy_history, "KEPT", 5)
    monkeypatch.setattr(policy_history, "MOST_ARMS", 2)
    found = history(*(decide(float(i), one(f"d{i}", f"arm {i}")) for i in range(9)))
    assert len(found.state()["latest"]) == 5
    found.follow([(10, reward(99.0, d0=1.0, d8=1.0))])
    assert found.counts | {"old": 1, "rewarded": 1} == found.counts
    assert sums(found, "arms", OTHERS)[0] == 7
