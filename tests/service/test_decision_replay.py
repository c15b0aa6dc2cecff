"""A decision made once more is the decision that was made: every model and every rule."""

import msgspec
import numpy as np
import pytest
from support.service_lives import FEATURES, KINDS, Core, live_on, task_of

from hierbandits.policies.recipes import POLICIES
from hierbandits.service import decision_replay
from hierbandits.service.decision_replay import CannotReplay, DecisionReplay
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.stored_event import decoded
from hierbandits.service.wire import DecisionRequest

RULES = [name for name in POLICIES if not POLICIES[name].knows_truth]
SOME = ["HierTS", "HierIDS", "HierRandUCB"]
CASES = [(kind, rule) for kind in KINDS for rule in SOME]
CASES += [("armed", rule) for rule in RULES if rule not in SOME]
CASES += [("linear", rule) for rule in RULES if rule not in SOME]


@pytest.fixture
def make(tmp_path):
    cores = []

    def make(settings):
        cores.append(Core(tmp_path / f"{len(cores)}.db", settings))
        return cores[-1], Snapshots(tmp_path / f"snapshots {len(cores)}")

    yield make
    for core in cores:
        core.storage.close()


def accounts(core, snapshots, **options):
    """The account of every decision of a policy."""
    replay = DecisionReplay(core.record, core.storage, snapshots, **options)
    core.store()
    for number, data in core.storage.events(core.record.id):
        for place in range(len(decoded(data).get("decisions", ()))):
            yield replay.of(number, place)


@pytest.mark.parametrize(("kind", "rule"), CASES)
def test_every_decision_can_be_made_once_more(make, kind, rule):
    draws = 0 if rule == "HierRandUCB" else 6
    core, snapshots = make(msgspec.structs.replace(KINDS[kind], rule=rule, draws=draws))
    live_on(core, np.random.default_rng(4), steps=20)
    told = list(accounts(core, snapshots))
    assert len(told) > 5
    for one in told:
        assert one["problem"] is None, one
        assert one["decision"]["arm"] in [row["arm"] for row in one["arms"]]
        assert one["why"]


def test_snapshots_shorten_the_way_and_the_answer_is_the_same(make):
    core, snapshots = make(KINDS["correlated"])
    rng = np.random.default_rng(5)
    live_on(core, rng, steps=25)
    core.store()
    before = list(accounts(core, snapshots))
    snapshots.save(core.record, core.live.number, {1: core.live.agent})
    live_on(core, rng, steps=25)
    after = list(accounts(core, snapshots))
    assert after[: len(before)] == before
    assert min(one["events_replayed"] for one in after[len(before) :]) < 5
    assert all(one["problem"] is None for one in after)


def test_a_past_that_a_snapshot_has_changed_is_not_taken_for_the_true_one(make):
    core, snapshots = make(KINDS["armed"])
    for n in range(6):
        made = core.decide(f"t{n}")
        core.reward(made.id, 1.0)
    core.store()
    other, _ = make(KINDS["armed"])  # whose agent knows something else
    for n in range(6):
        other.reward(other.decide(f"t{n}").id, -5.0)
    snapshots.save(core.record, core.live.number, {1: other.live.agent})
    for n in range(6):
        core.decide(f"t{n}")
    assert all(one["problem"] is None for one in accounts(core, snapshots))


def test_another_version_decided_by_its_own_settings(make):
    core, snapshots = make(KINDS["armed"])
    live_on(core, np.random.default_rng(6), steps=15)
    core.become(msgspec.structs.replace(KINDS["armed"], rule="HierUCB"))
    live_on(core, np.random.default_rng(7), steps=15)
    told = list(accounts(core, snapshots))
    assert all(one["problem"] is None for one in told)
    assert {one["decision"]["policy_version"] for one in told} == {1, 2}


def test_features_that_a_request_brings_are_known_of_the_latest_rounds(make):
    core, snapshots = make(PolicySettings(num_features=2, rule="HierTS", draws=5))
    requests = [DecisionRequest(f"t{n}", {k: FEATURES[k] for k in "abc"}) for n in range(3)]
    core.live.decide(requests)
    core.store()
    replay = DecisionReplay(core.record, core.storage, snapshots)
    told = replay.of(1, 2, core.live.rounds.of(1))
    assert told["problem"] is None
    assert len(told["arms"]) == 3
    assert "features" in replay.of(1, 2)["problem"]


def test_shadow_control_and_sticky_decisions_are_explained_as_such(make):
    settings = msgspec.structs.replace(
        KINDS["armed"], mode="shadow", control_share=0.4, control_arm="b"
    )
    core, snapshots = make(settings)
    requests = [DecisionRequest(f"t{n}", played="a") for n in range(20)]
    core.live.decide(requests)
    found = list(accounts(core, snapshots))
    groups = {one["decision"]["group"] for one in found}
    assert groups == {"shadow", "control"}
    for one in found:
        assert one["problem"] is None
        words = "control group" if one["decision"]["group"] == "control" else "shadow mode"
        assert words in one["why"][0]
    core, snapshots = make(msgspec.structs.replace(KINDS["armed"], sticky=True))
    core.decide("t")
    core.decide("t")
    first, second = accounts(core, snapshots)
    assert "keeps the arm" not in first["why"][0]
    assert "keeps the arm" in second["why"][0]


def test_what_cannot_be_made_once_more_says_why(make, monkeypatch):
    core, snapshots = make(KINDS["armed"])
    for n in range(8):
        core.live.decide([DecisionRequest(task_of(KINDS["armed"], n))])
    core.store()
    (late,) = list(accounts(core, snapshots, most_seconds=0.0))[-1:]
    assert "too long" in late["problem"]
    assert late["decision"]["arm"]
    replay = DecisionReplay(core.record, core.storage, snapshots)
    with pytest.raises(CannotReplay, match="no such decision"):
        replay.of(99, 0)
    monkeypatch.setattr(decision_replay, "decoded", lambda data: without_luck(decoded(data)))
    assert "earlier release" in replay.of(3, 0)["problem"]


def without_luck(event):
    return {name: value for name, value in event.items() if name != "luck"}


def test_many_arms_are_cut_to_those_that_came_nearest(make):
    names = [f"arm {n}" for n in range(200)]
    core, snapshots = make(PolicySettings(arms=names, rule="HierTS", draws=5))
    made = core.decide("t")
    (told,) = accounts(core, snapshots)
    assert len(told["arms"]) == decision_replay.MOST_ARMS
    assert told["num_arms"] == 200
    assert made.arm in [row["arm"] for row in told["arms"]]
    assert len(told["draws"][0]) == decision_replay.MOST_ARMS
