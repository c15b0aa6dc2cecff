"""Every event, with every policy, leaves a belief that saw only what remains."""

import numpy as np
import pytest
from support.adaptive import assert_same_hierarchy, drawn_events
from support.agent_lives import (
    ARMS,
    PRIORS,
    armed_forms,
    check_knows,
    every_policy,
    forms,
    live,
    new_agent,
    task_of,
)
from support.agents import state
from support.oracle import dense_posterior

from hierbandits import Agent, TaskSums, UnknownDecision


@forms
@every_policy
def test_what_was_learned_elsewhere_counts_as_if_it_had_been_decided_here(form, policy):
    rng = np.random.default_rng(1)
    agent, other = new_agent(form, policy), new_agent(form, policy)
    history = live(agent, form, rng)
    other.learn(
        [made.task for made, _ in history.values()],
        [made.arm if PRIORS[form].is_armed else made.features for made, _ in history.values()],
        [reward for _, reward in history.values()],
    )
    check_knows(other, history)
    assert other.pending == []
    if PRIORS[form].is_armed:  # by index too
        third = new_agent(form, policy)
        third.learn(["t"], [2], [1.5])
        assert third.table()["rewards"] == [0, 0, 1]


@pytest.mark.parametrize("form", ["armed", "linear"])
def test_learning_is_conditioning_of_the_dense_joint_gaussian(form):
    rng, prior = np.random.default_rng(2), PRIORS[form]
    events = 40
    tasks = rng.integers(5, size=events)
    features = (
        rng.integers(3, size=events) if PRIORS[form].is_armed else rng.normal(size=(events, 2))
    )
    rewards = rng.normal(size=events)
    agent = Agent(prior, seed=0)
    agent.learn([f"t{task}" for task in range(5)][:0], features[:0], [])
    for part in np.array_split(np.arange(events), 4):
        agent.learn([f"t{task}" for task in tasks[part]], features[part], rewards[part])
    rows = np.eye(3)[features] if PRIORS[form].is_armed else features
    design = np.zeros((events, 6 * prior.dim))
    for e, task in enumerate(tasks):
        design[e, task * prior.dim : (task + 1) * prior.dim] = rows[e]
    covs = [prior.task_cov] * 5 + [prior.hyper_cov]
    means = [None] * 5 + [prior.hyper_mean]
    joint = dense_posterior(
        [5] * 5 + [-1], covs, means, design, rewards, np.full(events, prior.noise_std**2)
    )
    for task in range(5):
        mean, cov = joint.of(task)
        known = agent.belief.task(agent.node(f"t{task}"))
        np.testing.assert_allclose(known.mean, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(known.cov, cov, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(agent.belief.log_evidence(), joint.log_evidence, rtol=1e-9)


@forms
@every_policy
def test_a_default_is_replaced_exactly_by_the_reward_that_comes_late(form, policy):
    rng = np.random.default_rng(3)
    agent = new_agent(form, policy)
    history = live(agent, form, rng)
    late = agent.pending
    agent._books.clock.now += 100
    waiting = agent.decide(task_of(form, 0), id="young")
    ids = agent.expire(50, default=-0.5)
    assert ids == [made.id for made in late]
    assert agent.pending == [waiting]
    check_knows(agent, history | {made.id: (made, -0.5) for made in late})
    values = rng.normal(size=len(late))
    values[0] = -0.5  # the default itself comes
    half = len(late) // 2
    for made, value in zip(late[:half], values, strict=False):
        assert agent.reward(made.id, value) is True
        assert agent.reward(made.id, value) is False
    new = [*late[half:], late[0], waiting]
    told = agent.reward_many([made.id for made in new], [*values[half:], -0.5, 2.0])
    assert told == [True] * (len(late) - half) + [False, True]
    history |= {made.id: (made, value) for made, value in zip(late, values, strict=True)}
    check_knows(agent, history | {"young": (waiting, 2.0)})
    with pytest.raises(ValueError, match="has the reward"):
        agent.reward(late[0].id, 7.0)
    assert agent.expire(50, default=0.0) == []
    with pytest.raises(ValueError, match="default must be finite"):
        agent.expire(50, default=np.nan)


@forms
@every_policy
def test_a_correction_replaces_a_reward_exactly(form, policy):
    rng = np.random.default_rng(4)
    agent = new_agent(form, policy)
    history = live(agent, form, rng)
    for id in list(history)[::3]:
        made, old = history[id]
        assert agent.correct(id, old) is False
        assert agent.correct(id, old + 1.5) is True
        history[id] = made, old + 1.5
        assert agent.reward(id, old + 1.5) is False
    check_knows(agent, history)
    before = state(agent)
    for id, value, error, message in (
        (agent.pending[0].id, 1.0, ValueError, "id must be of a decision that has its reward"),
        ("nope", 1.0, UnknownDecision, "not forgotten, got 'nope'"),
        (5, 1.0, UnknownDecision, "not forgotten, got 5"),
        (next(iter(history)), np.nan, ValueError, "value must be finite"),
    ):
        with pytest.raises(error, match=message):
            agent.correct(id, value)
    assert state(agent) == before
    made = agent.pending[0]
    agent._books.clock.now += 10
    agent.expire(5, default=0.0)
    assert agent.correct(made.id, 0.0) is True  # no default any more
    assert agent.reward(made.id, 0.0) is False


@forms
@every_policy
def test_a_forgotten_task_was_never_met(form, policy):
    rng = np.random.default_rng(5)
    agent = new_agent(form, policy)
    history = live(agent, form, rng, 40)
    gone = [task_of(form, number) for number in (1, 3, 5, 7, 4)]  # the north, and one more
    for task in gone:
        agent.forget(task)
    left = {id: part for id, part in history.items() if part[0].task not in gone}
    assert set(agent.tasks).isdisjoint(gone)
    assert all(made.task not in gone for made in agent.pending)
    check_knows(agent, left)
    groups = 1 if form == "deep" and agent.belief.num_levels == 3 else 0
    own = 0 if agent.belief.num_levels == 1 else len(agent.tasks)
    assert agent.belief.num_nodes == 1 + groups + own  # nothing of it is left
    for id, (made, reward) in history.items():
        if made.task in gone:
            with pytest.raises(UnknownDecision):
                agent.reward(id, reward)
        else:
            assert agent.reward(id, reward) is False
    with pytest.raises(ValueError, match="task must be one that the agent has met"):
        agent.forget(gone[0])
    left |= live(agent, form, rng, 20, name="later")  # names may come back
    check_knows(agent, left)
    for task in agent.tasks:
        agent.forget(task)
    check_knows(agent, {})


def test_a_forgotten_task_leaves_an_adaptive_belief_as_a_new_one_that_learns_the_rest():
    tasks, features, rewards = drawn_events(15, 200, True)
    agent, other = Agent(arms=list("abc"), seed=0), Agent(arms=list("abc"), seed=0)
    agent.learn(tasks, features, rewards)
    agent.forget(int(tasks[0]))
    rest = tasks != tasks[0]
    order = agent.tasks
    sums = TaskSums.zeros(len(order), 3, armed=True)
    sums.add([order.index(task) for task in tasks[rest]], features[rest], rewards[rest])
    other.learn_past(order, sums)
    np.testing.assert_allclose(agent.belief.log_evidence(), other.belief.log_evidence(), rtol=1e-9)
    assert_same_hierarchy(agent.belief.hierarchy(), other.belief.hierarchy())
    for task in order:
        np.testing.assert_allclose(
            agent.belief.task(agent.node(task)).mean,
            other.belief.task(other.node(task)).mean,
            rtol=1e-9,
        )


def test_a_forced_start_counts_what_is_left():
    agent = new_agent("linear", "HierTS-forced")
    for _ in range(3):
        agent.decide_many(["s", "t"])
    agent.decide("t", best=True)  # no forced exploration, and none is counted
    agent.forget("s")
    assert agent._state.policy.forced.decided[agent.node("t")] == 3
    agent.decide("s")
    assert agent._state.policy.forced.decided[agent.node("s")] == 1


@armed_forms
@every_policy
def test_an_arm_is_added_as_if_it_had_always_been_there(form, policy):
    rng = np.random.default_rng(6)
    agent = new_agent(form, policy)
    history = live(agent, form, rng)
    old = agent.prior
    adaptive = policy == "AdaptiveHierTS" and form == "armed"
    agent.add_arm("new", hyper_mean=0.4, hyper_std=1.5, task_std=0.2)
    agent.add_arm(9)
    assert agent.prior.dim == old.dim + 2
    assert not adaptive or agent.belief.num_rewards.sum() == len(history)
    history |= live(agent, form, rng, 60, name="later")
    assert {"new", 9} <= {made.arm for made, _ in history.values()}
    check_knows(agent, history)


def test_a_new_arm_has_the_prior_that_is_given_or_what_the_others_share():
    agent = Agent(PRIORS["deep-armed"], seed=0)
    agent.add_arm("x", hyper_mean=0.4, hyper_std=1.5, task_std=0.2)
    agent.add_arm("y")
    prior = agent.prior
    np.testing.assert_allclose(prior.hyper_mean, [0.3, -0.2, 0.4, 0.5 / 3])
    np.testing.assert_allclose(prior.covs[0], [1.0, 0.25, 2.25, 3.5 / 3])
    np.testing.assert_allclose(prior.covs[1], [0.16, 0.64, 0.4, 0.4])
    np.testing.assert_allclose(prior.covs[2], [0.09, 0.04, 0.04, 0.17 / 3])
    assert agent.decide(("a", "b")).offered == (0, 1, "x", "y")
    unknown = Agent(arms=["a", "b"], seed=0)
    unknown.add_arm("c", hyper_mean=0.7)
    assert unknown.prior.hyper_mean.tolist() == [0.0, 0.0, 0.7]


@pytest.mark.parametrize(
    ("name", "widths", "message"),
    [
        ("a", {}, "name must be of a new arm, got 'a'"),
        (1.5, {}, "name must be a string or an integer, got 1.5"),
        ("x", {"hyper_std": -1.0}, "hyper_std must not be negative"),
        ("x", {"task_std": -0.1}, "task_std must not be negative"),
        ("x", {"hyper_mean": np.inf}, "hyper_mean must be finite"),
        (
            "x",
            {"hyper_std": [1.0, 2.0]},
            "hyper_std must be numbers in rows of one length|hyper_std must have",
        ),
    ],
)
def test_an_arm_that_cannot_be_is_refused(name, widths, message):
    agent = new_agent("armed", "HierTS")
    live(agent, "armed", np.random.default_rng(7))
    before = state(agent)
    with pytest.raises(ValueError, match=message):
        agent.add_arm(name, **widths)
    assert state(agent) == before


def test_arms_with_features_are_not_added_or_retired():
    agent = Agent(PRIORS["linear"], arms={"x": [1.0, 0.0]}, seed=0)
    for change in (agent.add_arm, agent.retire_arm):
        with pytest.raises(ValueError, match="name must not be given where arms have features"):
            change("x")
    with pytest.raises(ValueError, match="task_std must not be given where widths are unknown"):
        Agent(arms=["a"]).add_arm("b", task_std=0.1)


@armed_forms
@every_policy
def test_a_retired_arm_is_offered_no_more_and_still_learns(form, policy):
    rng = np.random.default_rng(8)
    agent = new_agent(form, policy)
    history = live(agent, form, rng, rewarded=0.3)
    agent.decide(task_of(form, 0), ["a"])
    agent.retire_arm("a")
    waiting = {made.id: (made, 1.25) for made in agent.pending}
    assert any(made.arm == "a" for made, _ in waiting.values())
    agent.reward_many(list(waiting), [1.25] * len(waiting))
    for _ in range(20):
        made = agent.decide(task_of(form, 0))
        assert "a" not in made.offered
        assert made.arm != "a"
    with pytest.raises(ValueError, match="arms must not be retired, got 'a'"):
        agent.decide(task_of(form, 0), ["a", "b"])
    with pytest.raises(ValueError, match="arms must not be retired, got 'a'"):
        agent.retire_arm("a")
    with pytest.raises(ValueError, match="name must be of a new arm, got 'a'"):
        agent.add_arm("a")
    agent.add_arm("z")
    assert agent.decide(task_of(form, 0)).offered[-1] == "z"
    check_knows(agent, history | waiting)
    for name in agent.decide(task_of(form, 0)).offered[:-1]:
        agent.retire_arm(name)
    with pytest.raises(ValueError, match="name must leave an arm that is not retired"):
        agent.retire_arm("z")


@pytest.mark.parametrize(
    ("tasks", "features", "rewards", "message"),
    [
        (["x", "y"], ["a"], [1.0, 2.0], r"features must have shape \(2,\) to match tasks"),
        (
            ["x"],
            ["z"],
            [1.0],
            r"features must be arms of this agent \('a', 'b', 'c', \.\.\.\), got 'z'",
        ),
        (["x"], [3], [1.0], "features must be arms of this agent"),
        (["x"], [True], [1.0], "features must be arms of this agent"),
        (["x"], "a", [1.0], "features must be several names or indices, got 'a'"),
        (["x"], ["a"], [np.nan], "rewards must be finite"),
        (["x"], ["a"], [1.0, 2.0], r"rewards must have shape \(1,\) to match tasks"),
        (["x", 1.5], ["a", "a"], [1.0, 2.0], "task must be a string or an integer"),
        ("x", ["a"], [1.0], "tasks must be several tasks, got 'x'"),
    ],
)
def test_events_from_elsewhere_are_learned_all_or_none(tasks, features, rewards, message):
    agent = new_agent("armed", "HierTS")
    live(agent, "armed", np.random.default_rng(9))
    before = state(agent)
    with pytest.raises(ValueError, match=message):
        agent.learn(tasks, features, rewards)
    assert state(agent) == before


def test_linear_events_from_elsewhere_are_checked():
    agent = new_agent("linear", "HierTS")
    for features, message in (
        ([[1.0]], r"features must have shape \(1, 2\)"),
        ([[1.0, np.inf]], "features must be finite"),
        (["a"], "features must be numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            agent.learn(["x"], features, [1.0])
    assert agent.tasks == []
    agent.learn(["x"], ARMS[:1], [1.0])
    assert agent.tasks == ["x"]
