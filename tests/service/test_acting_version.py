"""Two versions of a policy decide side by side while the newer one is ramped."""

import msgspec
import numpy as np
import pytest
from support.agents import Clock
from support.service_lives import Core, known, live_on

from hierbandits.service.api_problem import Problem
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.task_erasure import TaskErasure
from hierbandits.service.wire import DecisionRequest

STEPS = [RampStep(0.3, 60.0), RampStep(0.7, 60.0), RampStep(1.0)]
TASKS = [f"user {n}" for n in range(200)]
WORSE = Guardrail(name="errors", at_most=0.1, against="control")


@pytest.fixture
def make(tmp_path):
    cores = []

    def make(**parts):
        settings = PolicySettings(**{"arms": ["a", "b"], "draws": 5, "rule": "HierTS"} | parts)
        core = Core(tmp_path / f"{len(cores)}.db", settings, clock=Clock())
        core.live.rollout.settle(None, 1, "ana")
        cores.append(core)
        return core

    yield make
    for core in cores:
        core.storage.close()


def ramp(core, steps=STEPS, **changes):
    """Begin the ramp of a candidate; the settings before it."""
    core.store()
    before = core.live.settings
    core.become(msgspec.structs.replace(before, **changes or {"rule": "HierGreedy"}), steps)
    return before


def decide(core, tasks=TASKS):
    return core.live.decide([DecisionRequest(task) for task in tasks])


def check(core, before):
    """All versions that decide, and the rollout, are what the ledger alone says."""
    settings = [core.live.settings, before]
    for version, its in zip(core.live.versions, settings, strict=False):
        assert version.settings == its
        assert known(version.agent) == known(core.recomputed(its))
    state = RolloutState()
    state.take(core.storage.events(core.record.id))
    assert state.to_dict() == core.live.rollout.state.to_dict()


def test_tasks_go_from_one_version_to_the_next_and_none_goes_back(make):
    core = make()
    decide(core)
    before = ramp(core)
    inside = set()
    for share, seconds in ((0.3, 0.0), (0.7, 60.0), (1.0, 60.0)):
        core.clock.now += seconds
        made = decide(core)
        assert {(one.group, one.version) for one in made} <= {("policy", 2), ("previous", 1)}
        found = {one.task for one in made if one.group == "policy"}
        assert abs(len(found) - 200 * share) < 6 * (200 * 0.25) ** 0.5 * (share < 1) + 0.5
        assert inside <= found
        inside = found
        core.live.reward([(one.id, 1.0) for one in made[::2]])
        check(core, before)
    assert core.live.previous is None
    whats = [one["what"] for one in core.live.rollout.state.audit]
    assert whats == ["created", "settings", "ramp", "promoted", "step", "step"]


def test_each_version_decides_by_its_own_rule_and_says_its_own_odds(make):
    core = make(floor=0.0)
    core.live.learn(TASKS, ["a"] * 200, [1.0] * 200)
    core.live.learn(TASKS, ["b"] * 200, [0.0] * 200)
    ramp(core, rule="HierGreedy", floor=1.0)
    made = decide(core)
    assert {one.propensity for one in made if one.group == "policy"} == {0.5}
    others = [one for one in made if one.group == "previous"]
    assert {one.arm for one in others} == {"a"}
    assert min(one.propensity for one in others) > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_both_versions_learn_all_that_happens(make, seed):
    core, rng = (
        make(arms=["a", "b", "c"], reward_wait=30.0, remember=5),
        np.random.default_rng(seed),
    )
    live_on(core, rng)
    before = ramp(core)
    waiting, _ = live_on(core, rng, steps=80)
    core.live.add_arm("d")
    decide(core, TASKS[:20])
    core.live.retire_arm("b")
    live_on(core, rng, steps=40)
    check(core, before)
    core.clock.now += 31.0
    assert core.live.expire() > 0
    for id in waiting[:3]:
        assert core.live.reward([(id, 0.5)])[0].status == "learned"  # late, from the ledger
    until = core.live.forget("user 1")
    core.store()
    core.storage.rewrite(core.record.id, TaskErasure("user 1", until))
    assert not any(one.agent.has_met("user 1") for one in core.live.versions)
    assert len(core.live.versions) == 2
    live_on(core, rng, steps=20, tasks=range(1, 7))
    for one in core.live.versions:
        assert one.agent.tasks == core.live.agent.tasks
        assert one.agent.num_pending == core.live.pending


def test_a_candidate_that_is_worse_is_rolled_back_to_the_version_before(make):
    core = make(guardrails=[WORSE], control_arm="a", control_share=0.1)
    old = decide(core)
    before = ramp(core)
    made = decide(core)
    for one in old:  # from before the ramp: they say nothing of the candidate
        core.live.rollout.measure([(one.id, {"errors": 1.0})])
    told = core.live.rollout.state.watches["errors"].told()
    assert (told["count"], told["control_count"]) == (0, 0)
    rounds = 0
    while core.live.previous is not None and rounds < 5:
        for one in made:
            value = 1.0 if one.group != "previous" else 0.0
            core.live.rollout.measure([(one.id, {"errors": value})])
        rounds += 1
        if core.live.previous is not None:
            made = decide(core)
    assert core.live.previous is None
    last = core.live.rollout.state.audit[-1]
    assert (last["what"], last["by"]) == ("rollback", "the guardrail errors")
    assert (last["to"], last["version"]) == (1, 3)
    assert core.live.settings == before
    state, late = core.live.rollout.state, [one for one in made if one.group == "policy"]
    assert (state.ramp.phase, state.ramp.share, core.live.version) == ("rolled back", 1.0, 3)
    again = decide(core)
    assert {(one.group, one.version) for one in again} == {("policy", 3), ("control", 3)}
    for one in late:  # of the candidate that is gone: no fault of this version
        core.live.rollout.measure([(one.id, {"errors": 1.0})])
    assert state.watches["errors"].told()["count"] == 0
    core.store()
    assert [one.number for one in core.storage.versions(core.record.id)] == [1, 2, 3]
    assert core.storage.versions(core.record.id)[2].settings == before.to_json()
    check(core, before)
    core.live.rollout.act("rollback", [], "", "ana")
    assert {one.group for one in decide(core)} == {"control"}


def test_people_roll_a_candidate_back_without_a_control_arm(make):
    core = make()
    before = ramp(core)
    core.live.rollout.act("hold", [], "", "ana")
    core.live.rollout.act("resume", [], "", "ana")
    core.live.rollout.act("rollback", [], "worse", "bob")
    assert {(one.group, one.version) for one in decide(core)} == {("policy", 3)}
    assert core.live.rollout.state.audit[-1]["by"] == "bob"
    check(core, before)
    with pytest.raises(Problem, match="control_arm must be a setting"):
        core.live.rollout.act("rollback", [], "", "ana")
    ramp(core, [RampStep(1.0)])  # and another one, to all at once
    assert {(one.group, one.version) for one in decide(core)} == {("policy", 4)}
    assert core.live.previous is None


def test_settings_stay_while_a_candidate_is_ramped(make):
    core = make(control_arm="a")
    before = ramp(core, [RampStep(0.5)])
    core.store()
    for steps in ((), STEPS):
        with pytest.raises(Problem, match="version 2 is ramped from version 1") as caught:
            core.become(before, steps)
        assert caught.value.status == 409
    assert core.live.version == 2
    core.live.rollout.act("start", STEPS, "", "ana")  # it stayed at a half, and goes on
    assert core.live.rollout.state.ramp.base == 1
    check(core, before)


def test_a_ramp_is_from_the_control_arm_where_tasks_have_it(make):
    core = make(control_arm="a")
    core.live.rollout.act("rollback", [], "", "ana")
    ramp(core)
    assert {one.group for one in decide(core)} == {"policy", "control"}
    assert core.live.previous is None


def test_tasks_keep_their_arms_in_both_versions(make):
    core = make(sticky=True)
    kept = {one.task: one.arm for one in decide(core)}
    ramp(core)
    made = decide(core)
    assert {one.task: one.arm for one in made} == kept
    assert {one.group for one in made} == {"sticky", "previous"}


def test_what_one_of_two_versions_cannot_learn_is_refused(make):
    core = make(rewards="bernoulli", arms=["a", "b"])
    ramp(core, rewards=None)
    one, number = core.decide("user 1"), core.live.number
    assert core.reward(one.id, 0.5).status == 400
    with pytest.raises(ValueError, match="value"):
        core.live.learn(["user 1"], ["a"], [0.5])
    assert core.live.number == number
    assert core.reward(one.id, 1.0).status == "learned"
    assert core.live.correct(one.id, 0.5).status == 400
    with pytest.raises(ValueError, match="hyper_std"):
        core.live.add_arm("c", hyper_std=1.0)
    assert not core.live.is_torn
