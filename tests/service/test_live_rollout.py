"""Ramps, guardrails and the sample-ratio check of a policy that acts."""

import numpy as np
import pytest
from support.agents import Clock
from support.service_lives import Core, known

from hierbandits.service.api_problem import Problem
from hierbandits.service.guardrail import Guardrail
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.task_erasure import TaskErasure
from hierbandits.service.wire import DecisionRequest

ERRORS = Guardrail(name="errors", at_most=0.1)
STEPS = [RampStep(0.2, 60.0), RampStep(0.6, 60.0), RampStep(1.0)]
TASKS = [f"user {n}" for n in range(300)]


@pytest.fixture
def make(tmp_path):
    cores = []

    def make(**parts):
        given = {"arms": ["a", "b"], "draws": 5, "control_arm": "a"} | parts
        path = tmp_path / f"{len(cores)}.db"
        core = Core(path, PolicySettings(**given), clock=Clock())
        core.live.rollout.settle(None, 1, "ana")
        cores.append(core)
        return core

    yield make
    for core in cores:
        core.storage.close()


def act(core, action, steps=(), by="ana"):
    core.live.rollout.act(action, list(steps), "", by)


def groups(core, tasks=TASKS):
    return {one.task: one.group for one in core.live.decide([DecisionRequest(t) for t in tasks])}


def replayed(core):
    """Where the ledger alone says that the rollout stands."""
    core.store()
    state = RolloutState()
    state.take(core.storage.events(core.record.id))
    return state


def whats(core):
    return [one["what"] for one in core.live.rollout.state.audit]


def test_a_ramp_lets_tasks_in_and_none_out(make):
    core = make()
    assert set(groups(core).values()) == {"policy"}
    act(core, "start", STEPS)
    inside = set()
    for share, seconds in ((0.2, 0.0), (0.6, 60.0), (1.0, 60.0)):
        core.clock.now += seconds
        found = {task for task, group in groups(core).items() if group == "policy"}
        assert abs(len(found) - share * 300) < 6 * (300 * 0.25) ** 0.5 * (share < 1) + 0.5
        assert inside <= found
        inside = found
    assert whats(core) == ["created", "ramp", "step", "step"]
    assert core.live.rollout.state.ramp.phase == "done"
    assert replayed(core).to_dict() == core.live.rollout.state.to_dict()
    assert known(core.live.agent) == known(core.recomputed())


def test_the_control_share_is_held_out_of_the_whole_ramp(make):
    core = make(control_share=0.3)
    before = {task for task, group in groups(core).items() if group == "control"}
    act(core, "start", [RampStep(0.1, 1.0), RampStep(1.0)])
    assert before < {task for task, group in groups(core).items() if group == "control"}
    core.clock.now += 1.0
    assert {task for task, group in groups(core).items() if group == "control"} == before


def test_a_ramp_is_held_and_goes_on_and_is_rolled_back(make):
    core = make()
    act(core, "start", STEPS)
    core.clock.now += 50.0
    act(core, "hold")
    core.clock.now += 1e9
    groups(core)
    assert core.live.rollout.state.ramp.share == 0.2
    act(core, "resume")
    assert core.live.rollout.state.ramp.phase == "ramping"
    act(core, "rollback", by="bob")
    assert set(groups(core).values()) == {"control"}
    assert {one.arm for one in core.live.decide([DecisionRequest("new")])} == {"a"}
    last = core.live.rollout.state.audit[-1]
    assert (last["what"], last["by"]) == ("rollback", "bob")
    act(core, "start", [RampStep(1.0)])
    assert set(groups(core).values()) == {"policy"}
    assert replayed(core).to_dict() == core.live.rollout.state.to_dict()


@pytest.mark.parametrize(
    ("done", "action", "words"),
    [
        ([], "hold", "'none', start it"),
        ([], "resume", "'none', start it"),
        (["start"], "start", "'ramping', hold it"),
        (["start"], "resume", "'ramping', hold it"),
        (["start", "hold"], "hold", "'held', resume it"),
        (["rollback"], "rollback", "'rolled back', start another"),
        (["rollback"], "resume", "'rolled back', start another"),
    ],
)
def test_what_cannot_come_next_is_refused_with_what_can(make, done, action, words):
    core = make()
    for one in done:
        act(core, one, STEPS if one == "start" else ())
    before = core.live.number
    with pytest.raises(Problem, match=words) as caught:
        act(core, action, STEPS if action == "start" else ())
    assert caught.value.status == 409
    assert core.live.number == before


def test_a_rollout_needs_a_control_arm_and_a_policy_that_is_live(make):
    for parts, words in (({"control_arm": None}, "control_arm"), ({"mode": "shadow"}, "'live'")):
        core = make(**parts)
        with pytest.raises(Problem, match=words):
            act(core, "start", STEPS)
    core = make()
    with pytest.raises(Problem, match="steps must be given"):
        act(core, "start")
    with pytest.raises(Problem, match="steps must be given"):
        act(core, "rollback", STEPS)
    act(core, "rollback")
    with pytest.raises(Problem, match="must stay while the rollout is 'rolled back'"):
        core.become(PolicySettings(arms=["a", "b"], draws=5))


def test_sticky_tasks_come_into_the_policy_and_then_keep_their_arm(make):
    core = make(sticky=True)
    act(core, "start", [RampStep(0.2, 60.0), RampStep(1.0)])
    first = groups(core)
    core.clock.now += 60.0
    second = groups(core)
    assert {second[task] for task in TASKS if first[task] == "control"} == {"policy"}
    assert {second[task] for task in TASKS if first[task] != "control"} == {"sticky"}
    act(core, "rollback")
    assert set(groups(core).values()) == {"control"}


def measure(core, id, **values):
    (outcome,) = core.live.rollout.measure([(id, values)])
    return outcome


def test_a_crossed_guardrail_rolls_the_policy_back_at_once(make):
    core = make(guardrails=[ERRORS], control_share=0.5)
    decided = core.live.decide([DecisionRequest(task) for task in TASKS])
    for one in decided:
        if one.group == "control":
            measure(core, one.id, errors=1.0)  # no fault of the policy
    state = core.live.rollout.state
    assert state.ramp.phase == "none"
    bad = [one.id for one in decided if one.group == "policy"]
    number = 0
    while state.ramp.phase == "none":
        assert measure(core, bad[number], errors=1.0).values == {"errors": "stored"}
        number += 1
    assert number < 10
    assert set(groups(core).values()) == {"control"}
    last = state.audit[-1]
    assert (last["what"], last["by"]) == ("rollback", "the guardrail errors")
    assert (last["count"], last["mean"]) == (number, 1.0)
    measure(core, bad[-1], errors=1.0)  # it comes late, and changes nothing
    assert whats(core).count("rollback") == 1
    assert replayed(core).to_dict() == state.to_dict()
    act(core, "start", [RampStep(1.0)])
    assert state.watches["errors"].told()["count"] == 0
    assert state.ramp.phase == "done"


def test_metrics_count_once_stored_or_not(make):
    core = make(guardrails=[ERRORS])
    one = core.decide("u", id="é")
    assert measure(core, "é", errors=0.5).values == {"errors": "stored"}
    for _ in range(2):
        assert measure(core, "é", errors=0.5).values == {"errors": "duplicate"}
        assert measure(core, "é", errors=0.6).code == "conflict"
        core.store()
    assert measure(core, "nobody", errors=0.5).code == "not_found"
    assert measure(core, one.id, other=0.5).status == 400
    assert measure(core, one.id, errors=-0.5).status == 400
    assert measure(core, one.id, exposure=1.0).status == 400
    assert core.live.rollout.state.watches["errors"].told()["count"] == 1
    kinds = [event["kind"] for event in core.events()]
    assert kinds == ["change", "decide", "measure"]


def test_one_request_with_a_decision_twice(make):
    core = make(guardrails=[ERRORS])
    id = core.decide("u").id
    rows = [(id, {"errors": 0.5}), (id, {"errors": 0.5}), (id, {"errors": 0.6})]
    one, two, three = core.live.rollout.measure(rows)
    assert (one.values, two.values) == ({"errors": "stored"}, {"errors": "duplicate"})
    assert three.code == "conflict"


def lives(core, rng, number, lost=0.0):
    """Rounds of 50, with rewards; some exposures of arm "b" are never seen."""
    for start in range(0, number, 50):
        tasks = [f"user {n}" for n in rng.integers(0, 20, 50)]
        made = core.live.decide([DecisionRequest(task) for task in tasks])
        seen = [one.id for one in made if one.arm != "b" or rng.random() >= lost]
        core.live.reward([(id, float(rng.normal())) for id in seen])
        if start % 500 == 0:
            core.store()


def test_rounds_whose_decisions_share_their_luck_count_once(make):
    evidence = []
    for seed in range(20):
        core = make(ratio_check="rewards", rule="HierTS", draws=5)
        lives(core, np.random.default_rng(seed), 1000)
        ratio = core.live.rollout.state.ratio
        assert ratio.count == 20
        evidence.append(ratio.evidence)
        core.storage.close()
    assert max(evidence) < 20


def test_exposures_that_are_missing_are_told_once(make):
    core = make(ratio_check="rewards", rule="HierIDS", floor=0.5, draws=20)
    rng = np.random.default_rng(0)
    lives(core, rng, 1000)
    state = core.live.rollout.state
    assert state.ratio.evidence < 20
    assert sum(state.ratio.seen) == 1000
    lives(core, rng, 2000, lost=0.8)
    assert whats(core).count("sample ratio") == 1
    assert state.ratio_alarm
    assert replayed(core).to_dict() == state.to_dict()
    ratio = replayed(core).ratio
    assert ratio.seen[1] < ratio.expected[1]


def test_the_odds_in_the_ledger_have_the_propensity_of_the_arm(make):
    for rule in ("HierTS", "HierIDS", "HierUCB"):
        core = make(ratio_check="rewards", rule=rule, draws=20, floor=0.1)
        lives(core, np.random.default_rng(1), 200)
        for event in core.events():
            for one in event.get("decisions", ()):
                if "odds" not in one:
                    assert rule == "HierTS"
                    continue
                chance = dict(zip(one["offered"], one["odds"], strict=True))
                assert chance[one["arm"]] == pytest.approx(one["propensity"], abs=1e-12)
                assert sum(one["odds"]) == pytest.approx(1.0)


def test_exposures_may_be_confirmed_in_place_of_rewards(make):
    core = make(ratio_check="exposures", rule="HierIDS", draws=20)
    ids = [one.id for one in core.live.decide([DecisionRequest(task) for task in TASKS])]
    core.live.reward([(id, 1.0) for id in ids[:10]])
    assert core.live.rollout.state.ratio.count == 0
    core.live.rollout.measure([(id, {"exposure": 1.0}) for id in ids])
    core.live.rollout.measure([(ids[0], {"exposure": 1.0})])
    assert core.live.rollout.state.ratio.count == 300
    assert replayed(core).to_dict() == core.live.rollout.state.to_dict()


def test_new_settings_go_on_or_begin_anew_with_what_they_change(make):
    core = make(guardrails=[ERRORS])
    measure(core, core.decide("u").id, errors=0.5)
    core.store()
    same = PolicySettings(arms=["a", "b"], control_arm="a", draws=7, guardrails=[ERRORS])
    core.become(same)
    assert core.live.rollout.state.watches["errors"].told()["count"] == 1
    other = Guardrail(name="errors", at_most=0.2)
    core.become(PolicySettings(arms=["a", "b"], control_arm="a", draws=7, guardrails=[other]))
    assert core.live.rollout.state.watches["errors"].told()["count"] == 0
    assert whats(core) == ["created", "settings", "settings"]
    assert [one["version"] for one in core.live.rollout.state.audit] == [1, 2, 3]
    assert replayed(core).to_dict() == core.live.rollout.state.to_dict()


def test_a_task_that_is_erased_leaves_no_metrics(make):
    core = make(guardrails=[ERRORS], ratio_check="exposures")
    gone, kept = core.decide("gone", id="x"), core.decide("kept", id="y")
    rows = [(one.id, {"errors": 0.5, "exposure": 1.0}) for one in (gone, kept)]
    core.live.rollout.measure(rows)
    measure(core, kept.id, errors=0.5)
    until = core.live.forget("gone")
    core.store()
    core.storage.rewrite(core.record.id, TaskErasure("gone", until))
    state = replayed(core)
    assert state.watches["errors"].told()["count"] == 1
    assert state.ratio.count == 1
    assert core.storage.measured_by(core.record.id, [((2, 0), "errors"), ((3, 0), "errors")]) == {
        ((3, 0), "errors"): 4
    }
    core.live.rollout.replace(state, core.live.number)
    assert core.live.rollout.state.watches["errors"].told()["count"] == 1
