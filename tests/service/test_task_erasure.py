"""A ledger without a task: nothing of it is left, and all others are as if it had never come."""

import msgspec
import numpy as np
import pytest
from support.service_lives import KINDS, Core, assert_close, known, live_on, task_of

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.stored_event import decoded, encoded
from hierbandits.service.task_erasure import TaskErasure, last_forgotten
from hierbandits.service.wire import DecisionRequest


def erase(core, task):
    """What a deletion does, as the policy book does it."""
    until = core.live.forget(tuple(task) if isinstance(task, list) else task)
    core.store()
    erasure = TaskErasure(task, until)
    changed = core.storage.rewrite(core.record.id, erasure)
    core.live.view.hide_no_more(task)
    return changed


def without(core, task, path):
    """A policy of the same settings that never met a task, and else saw the same."""
    other = Core(path, core.live.settings)
    requests = {}
    for event in core.events():
        if event["kind"] == "decide":
            for one in event["decisions"]:
                if one["task"] != task:
                    requests[one["id"]] = one
                    other.live.decide(
                        [DecisionRequest(one["task"], [one["arm"]], id=f"other {one['id']}")]
                    )
        elif event["kind"] == "reward":
            for id, value in zip(event["ids"], event["values"], strict=True):
                if id in requests:
                    other.reward(f"other {id}", value)
        elif event["kind"] == "correct" and event["id"] in requests:
            other.live.correct(f"other {event['id']}", event["value"])
        elif event["kind"] == "learn":
            rows = zip(event["tasks"], event["arms"], event["rewards"], strict=True)
            for of, arm, value in rows:
                if of != task:
                    other.live.learn([tuple(of) if isinstance(of, list) else of], [arm], [value])
    return other


def tasks_in(events):
    """All tasks that a ledger names."""
    found = [one["task"] for event in events for one in event.get("decisions", ()) if one]
    found += [event["task"] for event in events if "task" in event]
    found += [event["decision"]["task"] for event in events if "decision" in event]
    return found + [task for event in events for task in event.get("tasks", ())]


@pytest.mark.parametrize("kind", ["armed", "linear", "deep", "deep-armed", "correlated", "common"])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_the_belief_is_that_of_an_agent_which_never_met_the_task(tmp_path, kind, number):
    core = Core(tmp_path / "a.db", KINDS[kind])
    live_on(core, np.random.default_rng(11), steps=40)
    task = task_of(core.live.settings, number)
    other = without(core, task, tmp_path / "b.db")
    assert erase(core, task) > 1
    core.storage.check()
    recomputed = core.recomputed()
    assert_close(recomputed, other.live.agent)
    assert_close(recomputed, core.live.agent)
    assert task not in tasks_in(core.events())
    live_on(core, np.random.default_rng(12), steps=10)  # it may come again
    assert_close(core.recomputed(), core.live.agent)


def test_other_decisions_stay_where_they_are(tmp_path):
    core = Core(tmp_path / "a.db", PolicySettings(arms=["a", "b"], draws=5))
    mine, others = core.live.decide([DecisionRequest("me"), DecisionRequest("you")])
    core.live.reward([(mine.id, 1.0), (others.id, 2.0)])
    erase(core, "me")
    assert core.live.view.decision(mine.id) is None
    assert core.live.view.decision(others.id)["reward"] == 2.0
    assert core.reward(others.id, 2.0).status == "duplicate"
    assert core.reward(mine.id, 1.0).status == 404
    kinds = [event["kind"] for event in core.events()]
    assert kinds == ["decide", "reward", "deleted"]
    assert core.events()[0]["decisions"][0] is None


def test_a_task_that_comes_again_before_the_ledger_is_rewritten_keeps_what_is_new(tmp_path):
    core = Core(tmp_path / "a.db", PolicySettings(arms=["a", "b"], draws=5, reward_wait=1e-6))
    core.decide("me", id="old")
    core.live.expire()
    until = core.live.forget("me")
    assert core.reward("old", 1.0).status == 404  # a late one does not bring the task back
    assert core.decide("me", id="old").status == 410
    core.decide("me", id="new")
    core.store()
    core.storage.rewrite(core.record.id, TaskErasure("me", until))
    core.live.view.hide_no_more("me")
    assert core.reward("new", 1.0).status == "learned"
    assert core.live.view.decision("new")["reward"] == 1.0
    recomputed = core.recomputed()
    assert known(recomputed)[1:4] == known(core.live.agent)[1:4]
    assert_close(recomputed, core.live.agent)


class SteppingClock:
    def __init__(self, *times):
        self.times = list(times)

    def __call__(self):
        return self.times.pop(0)


def test_a_clock_that_stepped_back_in_an_erased_event_still_counts(tmp_path):
    settings = PolicySettings(arms=["a", "b"], draws=5, reward_wait=50.0)
    core = Core(tmp_path / "a.db", settings)
    # The clock is an hour ahead when "me" comes, and right again from then on.
    clock = SteppingClock(0.0, 3600.0, 10.0, 10.0, 20.0, 30.0)
    core.live.agent._books.clock = clock
    core.decide("you", id="early")
    core.decide("me", id="x")
    core.decide("you", id="late")
    assert core.live.expire() == 1  # 3600 seconds have passed since "early"
    erase(core, "me")
    assert known(core.recomputed())[1:3] == known(core.live.agent)[1:3]


def test_what_is_known_from_before_is_erased_too(tmp_path):
    core = Core(tmp_path / "a.db", PolicySettings(arms=["a", "b"], draws=5))
    sums = TaskSums.zeros(3, 2, armed=True)
    sums.add([0, 1, 2, 1], [0, 1, 0, 0], [1.0, 2.0, 3.0, 4.0])
    core.live.learn_past(["x", "me", "z"], sums)
    erase(core, "me")
    event = core.events()[0]
    assert event["tasks"] == ["x", "z"]
    assert event["sums"]["n"] == [1.0, 1.0]
    assert core.recomputed().tasks == ["x", "z"]


def test_the_last_deletion_of_a_task_is_found():
    events = [
        (number, encoded({"kind": kind, "time": 0.0, "task": task}))
        for number, (kind, task) in enumerate(
            [("forget", "u"), ("decide", "u"), ("forget", ["g", "u"]), ("forget", "u")], start=1
        )
    ]
    assert last_forgotten("u", events) == 4
    assert last_forgotten(("g", "u"), events) == 3
    assert last_forgotten("v", events) is None


def test_corrections_of_what_the_agent_forgot_go_with_their_task(tmp_path):
    """Such an event names the task, since the agent needs to be told the decision."""
    core = Core(tmp_path / "a.db", msgspec.structs.replace(KINDS["armed"], remember=1))
    for number in range(8):
        core.decide(f"t{number % 2}", id=f"d{number}")
        core.reward(f"d{number}", 1.0)
    for number in range(4):
        assert core.live.correct(f"d{number}", 0.0).status == "corrected"
    assert tasks_in(core.events()).count("t0") == 6
    erase(core, "t0")
    assert "t0" not in tasks_in(core.events())
    assert tasks_in(core.events()).count("t1") == 6
    assert_close(core.recomputed(), core.live.agent)
    core.storage.close()


def test_what_is_left_in_a_shadow_says_which_event_of_its_policy_it_was():
    """Or the shadow would be shown the event once more."""
    erasure = TaskErasure("me", 2)
    made = {"id": "x", "task": "me"}
    given = [
        {"kind": "decide", "time": 1.0, "source": 7, "decisions": [made]},
        {"kind": "forget", "time": 2.0, "source": 8, "task": "me", "by": "ana"},
    ]
    assert [decoded(erasure(encoded(one))) for one in given] == [
        {"kind": "erased", "time": 1.0, "source": 7},
        {"kind": "deleted", "time": 2.0, "source": 8, "by": "ana"},
    ]
