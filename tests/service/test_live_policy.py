"""A policy that acts: answers, retries, late rewards, versions and deletion."""

import numpy as np
import pytest
from support.service_lives import (
    FEATURES,
    IS_KNOWN,
    KINDS,
    Core,
    assert_close,
    known,
    live_on,
    task_of,
)

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.wire import DecisionRequest

ARMS = ["a", "b", "c"]
PRIOR = KINDS["armed"].prior


@pytest.fixture
def make(tmp_path):
    cores = []

    def make(settings=None, **parts):
        given = settings or PolicySettings(**{"arms": ARMS, "draws": 5} | parts)
        cores.append(Core(tmp_path / f"{len(cores)}.db", given))
        return cores[-1]

    yield make
    for core in cores:
        core.storage.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_live_agent_is_what_the_ledger_alone_makes_bit_for_bit(make, kind):
    core = make(KINDS[kind])
    live_on(core, np.random.default_rng(5))
    core.decide(task_of(KINDS[kind], 3))
    assert core.live.agent.belief.num_rewards.sum() > 5
    assert known(core.live.agent) == known(core.recomputed())


@pytest.mark.parametrize("kind", [name for name, is_known in IS_KNOWN.items() if is_known])
def test_the_order_of_rewards_does_not_matter_where_the_prior_is_known(make, kind):
    settings, rng = KINDS[kind], np.random.default_rng(8)
    one, two = make(settings), make(settings)
    requests = [DecisionRequest(task_of(settings, n), id=f"x{n}") for n in range(20)]
    arms = settings.arms if isinstance(settings.arms, list) else list(FEATURES)
    given = [(f"x{n}", float(rng.integers(0, 2))) for n in range(20)]
    for core in (one, two):
        core.live.decide([_with_arms(r, [arms[n % len(arms)]]) for n, r in enumerate(requests)])
    for part in np.split(np.array(given, object), [3, 4, 11]):
        one.live.reward([tuple(row) for row in part])
    for i in rng.permutation(20):
        two.reward(*given[i])
        two.reward(*given[i])
    # Families are matched to the tolerance of MatchedBelief, in the order in which rewards come.
    tolerance = 1e-9 if kind not in ("bernoulli", "poisson") else 1e-3
    assert_close(one.live.agent, two.live.agent, tolerance)
    assert_close(one.live.agent, two.recomputed(), tolerance)


def _with_arms(request, arms):
    return DecisionRequest(request.task, arms, id=request.id)


def test_a_retried_id_has_the_first_answer_also_while_that_is_not_stored(make):
    core = make()
    first = core.decide("user", id="é ☕")
    again = core.decide("user", id="é ☕")
    assert again.duplicate
    assert (again.id, again.arm, again.propensity) == (first.id, first.arm, first.propensity)
    core.store()
    stored = core.decide(["user"], id="é ☕")  # a path of one name is that name
    assert stored.duplicate
    assert stored.arm == first.arm
    assert core.live.number == 1


def test_an_id_twice_in_one_round_is_one_decision(make):
    core = make()
    replies = core.live.decide([DecisionRequest("u", id="x"), DecisionRequest("u", id="x")])
    assert [reply.duplicate for reply in replies] == [False, True]
    assert replies[0].arm == replies[1].arm
    assert core.live.pending == 1


def test_an_id_of_another_task_is_a_conflict(make):
    core = make()
    core.decide(1, id="x")
    problem = core.decide("1", id="x")
    assert (problem.status, problem.code) == (409, "id_taken")


def test_an_id_is_never_used_again_even_when_the_agent_has_forgotten_it(make):
    core = make(remember=0)
    first = core.decide("u", id="x")
    core.reward("x", 1.0)
    core.store()
    assert core.decide("u", id="x").arm == first.arm
    assert core.live.pending == 0
    assert core.reward("x", 1.0).status == "duplicate"
    assert core.reward("x", 2.0).code == "conflict"


def test_a_reward_counts_once(make):
    core = make()
    id = core.decide("u").id
    outcomes = core.live.reward([(id, 1.0), (id, 1.0)])
    assert [one.status for one in outcomes] == ["learned", "duplicate"]
    core.store()
    assert core.reward(id, 1.0).status == "duplicate"
    assert (core.reward(id, 2.0).status, core.reward(id, 2.0).code) == (409, "conflict")
    assert core.live.agent.belief.num_rewards.sum() == 1


def test_of_many_rewards_the_good_ones_count(make):
    core = make(rewards="bernoulli")
    ids = [core.decide("u").id for _ in range(3)]
    outcomes = core.live.reward([(ids[0], 1.0), ("nobody", 1.0), (ids[1], 0.5), (ids[2], 0.0)])
    assert [getattr(one, "code", None) or one.status for one in outcomes] == [
        "learned", "not_found", "bad_request", "learned",
    ]  # fmt: skip
    assert core.live.agent.belief.num_rewards.sum() == 2


def test_a_reward_of_another_policys_decision_is_unknown(make):
    one, two = make(), make()
    id = one.decide("u").id
    two.decide("u")
    assert two.reward(id, 1.0).status == 404
    upper = id.split(".")
    assert one.reward(".".join(["0" + upper[0], *upper[1:]]), 1.0).status == 404
    assert one.reward(id, 1.0).status == "learned"


def test_a_late_reward_of_a_decision_that_was_given_up_counts_in_full_and_once(make):
    core, plain = make(prior=PRIOR, reward_wait=1e-6), make(prior=PRIOR)
    for one in (core, plain):
        one.decide("u", ["b"], id="x")
    assert core.live.expire() == 1
    assert core.live.pending == 0
    assert core.reward("x", 3.0).status == "learned"  # before anything is stored
    assert core.reward("x", 3.0).status == "duplicate"
    core.store()
    assert core.reward("x", 3.0).status == "duplicate"
    assert core.reward("x", 4.0).code == "conflict"
    plain.reward("x", 3.0)
    assert_close(core.live.agent, plain.live.agent)
    assert known(core.live.agent) == known(core.recomputed())
    assert core.live.view.decision("x")["reward"] == 3.0


def test_a_late_reward_replaces_a_default_once(make):
    core, plain = make(prior=PRIOR, reward_wait=1e-6, default_reward=0.25), make(prior=PRIOR)
    for one in (core, plain):
        one.decide("u", ["b"], id="x")
    assert core.live.expire() == 1
    assert core.live.view.decision("x") | {"reward": 0.25, "provisional": True} == (
        core.live.view.decision("x")
    )
    assert core.live.pending == 0
    core.store()
    assert core.reward("x", 3.0).status == "learned"
    assert core.live.pending == 0
    assert core.reward("x", 3.0).status == "duplicate"
    assert core.reward("x", 0.25).code == "conflict"
    plain.reward("x", 3.0)
    assert_close(core.live.agent, plain.live.agent)
    assert known(core.live.agent) == known(core.recomputed())
    assert core.live.view.decision("x")["provisional"] is False


def test_a_late_reward_of_a_retired_arm_is_learned(make):
    core = make(reward_wait=1e-6)
    for id in ("x", "y"):
        core.decide("u", ["b"], id=id)
    core.live.expire()
    core.live.add_arm("d")
    core.live.retire_arm("b")
    core.store()
    assert core.reward("x", 1.0).status == "learned"
    assert known(core.live.agent) == known(core.recomputed())


def test_corrections(make):
    core = make(remember=1)
    for id in ("x", "y", "z"):
        core.decide("u", id=id)
    assert core.live.correct("x", 1.0).code == "no_reward_yet"
    core.live.reward([("x", 1.0), ("y", 2.0)])
    assert core.live.correct("y", 3.0).status == "corrected"
    assert core.live.correct("y", 3.0).status == "duplicate"
    assert core.live.correct("x", 3.0).status == "corrected"  # though it is not remembered
    assert core.live.correct("x", 3.0).status == "duplicate"
    assert core.reward("x", 1.0).code == "conflict"
    assert core.live.correct("nobody", 3.0).status == 404
    core.store()
    assert core.live.view.decision("y")["reward"] == 3.0
    assert known(core.live.agent) == known(core.recomputed())


@pytest.mark.parametrize("remember", [3, 10_000])
def test_a_late_click_of_a_settled_default_is_learned(make, monkeypatch, remember):
    """With features so many rewards have rows; after a click of an older one all was refused."""
    monkeypatch.setattr("hierbandits.beliefs.site_rows.MOST_ROWS", 60)
    parts = {"arms": FEATURES, "rewards": "bernoulli", "reward_wait": 10.0, "default_reward": 0.0}
    core, now, rng = make(remember=remember, **parts), [1e9], np.random.default_rng(0)
    core.live.agent._books.clock = lambda: now[0]
    for number in range(150):
        now[0] += 1.0
        arms = {name: [1.0, float(rng.normal())] for name in FEATURES}
        core.decide(f"u{number % 5}", arms, id=f"d{number}")
        core.live.expire()
    core.store()
    belief = core.live.agent.belief
    assert belief._told_rows.settled.number > 60
    before = belief.mean_reward([core.live.agent.node("u0")], [[1.0, 0.0]]).mean[0]
    assert core.reward("d0", 1.0).status == "learned"
    assert (
        core.live.agent.belief.mean_reward([core.live.agent.node("u0")], [[1.0, 0.0]]).mean > before
    )
    assert core.live.correct("d0", 0.0).status == "corrected"
    assert not isinstance(core.decide("u1"), Problem)
    core.store()
    assert known(core.live.agent) == known(core.recomputed())


def test_a_sticky_task_keeps_its_arm(make):
    core = make(sticky=True)
    for task in ("u", 1, "1"):
        replies = core.live.decide([DecisionRequest(task), DecisionRequest(task)])
        replies += [core.decide(task) for _ in range(8)]
        assert len({reply.arm for reply in replies}) == 1
        assert [reply.group for reply in replies] == ["policy"] + ["sticky"] * 9
    core.store()
    kept = core.decide("u").arm
    core.become(PolicySettings(arms=ARMS, draws=6, sticky=True))
    assert core.decide("u").arm == kept


def test_what_a_sticky_task_keeps_survives_a_version_that_is_made_before_it_is_stored(make):
    core = make(sticky=True)
    kept = {task: core.decide(task).arm for task in range(30)}
    core.become(PolicySettings(arms=ARMS, draws=6, sticky=True))
    assert {task: core.decide(task).arm for task in range(30)} == kept


def test_a_sticky_task_gets_another_arm_when_its_own_is_retired(make):
    core = make(sticky=True)
    first = core.decide("u").arm
    others = [arm for arm in ARMS if arm != first]
    elsewhere = core.decide("u", others)
    assert (elsewhere.group, elsewhere.arm in others) == ("policy", True)
    assert core.decide("u").arm == first  # it keeps its own meanwhile
    core.live.retire_arm(first)
    second = core.decide("u")
    assert second.group == "policy"
    assert second.arm in others
    assert [core.decide("u").arm for _ in range(5)] == [second.arm] * 5
    core.store()
    assert core.storage.assigned(core.record.id, ['"u"']) == {'"u"': f'"{second.arm}"'}


def test_held_out_tasks_have_the_control_arm_or_are_refused(make):
    core = make(control_share=1.0, control_arm="c")
    reply = core.decide("u")
    assert (reply.arm, reply.group, reply.propensity) == ("c", "control", 1.0)
    problem = core.decide("u", ["a", "b"])
    assert problem.status == 400
    assert "control_arm must be among the arms of the request" in problem.detail
    with pytest.raises(ValueError, match="control_arm"):
        core.live.retire_arm("c")
    assert not core.live.is_torn


def test_one_bad_request_does_not_spoil_a_round(make):
    core = make()
    good, bad, other = core.live.decide(
        [DecisionRequest("u"), DecisionRequest("v", ["nothing"]), DecisionRequest("w", ["a"])]
    )
    assert isinstance(bad, Problem)
    assert (good.task, other.arm) == ("u", "a")
    assert core.live.agent.tasks == ["u", "w"]


def test_in_shadow_the_callers_arm_is_played_and_ours_is_told(make):
    core = make(mode="shadow")
    assert "played must be given" in core.decide("u").detail
    reply = core.decide("u", played="b")
    assert (reply.arm, reply.group) == ("b", "shadow")
    assert reply.would in ARMS
    assert core.events()[0]["decisions"][0]["would"] == reply.would
    assert "played must be among" in core.decide("u", ["a"], played="b").detail
    assert "shadow mode" in make().decide("u", played="a").detail


def test_integers_are_names_of_arms_and_tasks(make):
    core = make(arms=[3, 1, 2], sticky=True)
    arms = {core.decide(task).arm for task in range(40)}
    assert arms <= {1, 2, 3}
    assert len(arms) > 1
    reply = core.decide(99, [2])
    assert reply.arm == 2
    assert reply.gap == 0.0
    core.live.add_arm(7)
    core.live.retire_arm(3)
    assert core.decide(100, [7]).arm == 7
    assert "retired" in core.decide(100, [3]).detail
    assert known(core.live.agent) == known(core.recomputed())


@pytest.mark.parametrize("rewards", [None, "bernoulli"])
def test_arms_with_features_that_each_call_brings(make, rewards):
    core = make(PolicySettings(num_features=2, rewards=rewards, draws=5))
    replies = core.live.decide(
        [
            DecisionRequest("u", {"x": [1.0, 0.0], "y": [0.0, 1.0]}),
            DecisionRequest("v", {"z": [0.5, 0.5]}),
            DecisionRequest("w"),
            DecisionRequest("w", {"q": [1.0]}),
        ]
    )
    assert [isinstance(one, Problem) for one in replies] == [False, False, True, True]
    assert (replies[1].arm, replies[1].gap) == ("z", 0.0)
    core.live.reward([(replies[0].id, 1.0), (replies[1].id, 0.0)])
    assert core.decide("u", {"x": [1.0, 0.0], "y": [0.0, 1.0]}).gap >= 0.0
    assert known(core.live.agent) == known(core.recomputed())


def test_too_many_pending_decisions_ask_for_patience(make):
    core = make(most_pending=2)
    for _ in range(2):
        core.decide("u")
    problem = core.decide("u")
    assert (problem.status, problem.code, problem.retry_after) == (429, "too_many_pending", 1.0)


def test_an_agent_that_did_what_nobody_can_tell_is_torn(make):
    core = make()
    core.live._acting._expected = None  # so that it fails after the decision
    with pytest.raises(RuntimeError, match="gaps of 1 decisions"):
        core.decide("u")
    assert core.live.is_torn
