"""What workers cannot share of a policy in a file is refused by name."""

import msgspec
import pytest
from msgspec.structs import replace
from support.service_lives import Core
from support.shared_archives import archive_of
from support.shared_stores import SETTINGS

from hierbandits.service.archive_fit import versions_to_share
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.ramp import RampStep

PLAIN = replace(SETTINGS["armed"], control_arm="b")
GUARDED = replace(PLAIN, guardrails=[Guardrail(name="errors", at_most=0.5)])
WAITING = replace(PLAIN, reward_wait=1e-9, default_reward=0.0)


@pytest.fixture
def core(tmp_path):
    core = Core(tmp_path / "ledger.db", PLAIN)
    core.live.rollout.settle(None, 1, "ann")
    core.reward(core.decide("t", id="first").id, 1.0)
    yield core
    core.storage.close()


def refused(core, words, *more):
    with pytest.raises(ValueError, match=words):
        versions_to_share(archive_of(core, *(msgspec.json.encode(one) for one in more)))


def test_who_did_what_is_no_hindrance(core):
    assert [one.settings for one in versions_to_share(archive_of(core))] == [PLAIN]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sticky": True}, "sticky must be False where workers share a policy"),
        ({"rule": "HierTS-forced"}, "rule must not count"),
        ({"rule": "PooledTS"}, "rule must keep tasks apart"),
    ],
)
def test_settings_of_the_newest_version_are_refused_as_for_a_new_policy(core, settings, words):
    core.store()
    core.become(replace(PLAIN, **settings))
    refused(core, words)
    core.become(PLAIN)
    assert len(versions_to_share(archive_of(core))) == 3


def test_metrics_and_what_came_from_elsewhere_are_refused(core):
    core.become(GUARDED)
    core.live.rollout.measure([("first", {"errors": 1.0})])
    core.become(PLAIN)
    refused(core, "archive must have no metrics where workers share it: event 5")


def test_rewards_from_elsewhere_are_refused(core):
    core.live.learn([], [], [])
    assert versions_to_share(archive_of(core))
    both = {"kind": "learn", "late": "first", "tasks": ["t", "t"], "rewards": [1.0, 1.0]}
    refused(core, "no rewards of decisions that were made elsewhere", both)
    core.live.learn(["t"], ["a"], [1.0])
    refused(core, "no rewards of decisions that were made elsewhere where .*: event 5")


def test_a_past_of_sums_is_refused_and_an_empty_one_is_not(core):
    past = {"kind": "learn_past", "time": 1.0, "tasks": ["t"], "arms": None}
    refused(core, "no past of tasks that is known by sums", past | {"sums": {"n": [2.0]}})
    refused(core, "no events of kind 'dance'", {"kind": "dance"})
    empty = msgspec.json.encode(past | {"sums": {"n": [0.0]}})
    assert versions_to_share(archive_of(core, empty))


def test_default_rewards_are_refused_unless_others_have_come_or_settings_give_them(core):
    core.store()
    core.become(WAITING)
    id = core.decide("t").id
    assert core.live.expire() == 1
    assert len(versions_to_share(archive_of(core))) == 2
    core.become(PLAIN)
    refused(core, f"reward_wait and default_reward in .*: that of decision '{id}', event 6")
    assert core.reward(id, 2.0).status == "learned"
    assert len(versions_to_share(archive_of(core))) == 3


def test_a_rollout_must_have_ended(core):
    core.live.rollout.act("start", [RampStep(0.5, 60.0), RampStep(1.0)], "", "ann")
    refused(core, "rollout must have ended, .*; it is 'ramping', at a share of 0.5")
    core.live.rollout.act("rollback", [], "", "ann")
    refused(core, "it is 'rolled back', at a share of 0")
    core.live.rollout.act("start", [RampStep(1.0)], "", "ann")
    assert versions_to_share(archive_of(core))


def test_a_candidate_on_its_way_is_refused(core):
    change = {"kind": "change", "time": 1.0, "what": "candidate", "candidate": {}, "evaluation": ""}
    refused(core, "rollout must have ended", change)


def test_the_control_arm_cannot_be_retired(core):
    refused(core, "control_arm", {"kind": "retire_arm", "time": 1.0, "name": "b", "by": "ann"})
