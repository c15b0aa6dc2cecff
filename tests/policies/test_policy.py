"""Contracts that every named policy keeps."""

import numpy as np
import pytest
from support.policies import RUNS, TASKS, D, K, both, every, play, small_policy, small_prior
from support.states import belief_state

from hierbandits import Arms, Belief, Policy
from hierbandits.models.variants import marginal
from hierbandits.policies.greedy_rule import greedy


@every
@both
def test_choices_are_arms_and_the_same_seed_repeats_them(name, armed):
    one, other = small_policy(name, armed), small_policy(name, armed)
    choices = play(one, armed)
    assert choices.min() >= 0
    assert choices.max() < (D if armed else K)
    np.testing.assert_array_equal(choices, play(other, armed))
    assert belief_state(one.belief) == belief_state(other.belief)


@every
@both
def test_only_eligible_arms_are_played(name, armed):
    policy, rng = small_policy(name, armed), np.random.default_rng(3)
    arms = None if armed else rng.standard_normal((D, D))
    for _ in range(20):
        masks = rng.random((2, D)) < 0.5
        masks[:, 1] = True
        choices = policy.act(rng, [0, 5], arms, masks)
        assert masks[[0, 1], choices].all()


@every
def test_one_arm_leaves_no_choice(name):
    policy = small_policy(name, False)
    assert policy.act(np.random.default_rng(0), [1, 1], np.ones((1, D))).tolist() == [0, 0]


@every
@both
def test_bad_input_changes_nothing(name, armed):
    policy = small_policy(name, armed)
    play(policy, armed, rounds=2)
    before = belief_state(policy.belief)
    rng = np.random.default_rng(0)
    arms = None if armed else np.eye(D)
    x = [0] if armed else np.eye(D)[:1]
    with pytest.raises(ValueError, match="tasks must be in"):
        policy.act(rng, [10**6], arms)
    with pytest.raises(ValueError, match="arms must"):
        policy.act(rng, [0], [[np.nan] * D] if not armed else [7])
    with pytest.raises(ValueError, match="rewards must be finite"):
        policy.learn([0], x, [np.nan])
    assert belief_state(policy.belief) == before


@every
@both
def test_runs_do_not_touch_each_other(name, armed):
    """A thousand runs in one batch are a thousand beliefs: what run 0 learns stays there."""
    policy = small_policy(name, armed)
    untouched = [policy.belief.hyper(run).mean for run in (1, 2)]
    features = np.zeros(20, int) if armed else np.ones((20, D))
    policy.learn(np.arange(20) % TASKS, features, np.ones(20))
    for run, mean in zip((1, 2), untouched, strict=True):
        np.testing.assert_array_equal(policy.belief.hyper(run).mean, mean)


@every
def test_forms_of_arms_agree(name):
    """Shared, one for each event, and grouped sets of the same arms give the same choices."""
    table = np.random.default_rng(4).standard_normal((K, D))
    tasks = [0, 3, 3]
    each = np.tile(table, (3, 1, 1))
    forms = [table, each, list(each), Arms.grouped(each, [2, 0, 1])]
    first, *others = (
        small_policy(name, False).act(np.random.default_rng(5), tasks, arms) for arms in forms
    )
    for choices in others:
        np.testing.assert_array_equal(choices, first)


def test_pooled_tasks_of_a_round_share_one_draw():
    policy = small_policy("PooledTS", False, num_tasks=50, runs=2)
    choices = policy.act(np.random.default_rng(7), np.arange(100), np.eye(D))
    assert len(set(choices[:50])) == len(set(choices[50:])) == 1


@every
def test_a_population_is_no_task(name):
    policy = small_policy(name, True, num_tasks=2)
    root = int(policy.belief.roots[0])
    wrong = root if name != "PooledTS" else 2 * RUNS
    with pytest.raises(ValueError, match="tasks must be"):
        policy.act(np.random.default_rng(0), [wrong])
    with pytest.raises(ValueError, match="tasks must be"):
        policy.learn([wrong], [0], [1.0])
    for tasks in ([True], ["a"], [0.5]):
        with pytest.raises(ValueError, match="tasks must be integers"):
            policy.act(np.random.default_rng(0), tasks)


@every
@both
def test_an_empty_round_is_nothing(name, armed):
    policy, rng = small_policy(name, armed), np.random.default_rng(0)
    for arms in [None] if armed else [np.eye(D), np.empty((0, 4, D))]:
        assert policy.act(rng, [], arms).shape == (0,)
    assert policy.act(rng, [], None if armed else np.eye(D), np.empty((0, D), bool)).shape == (0,)


def test_propensities_are_for_rules_that_give_them():
    rng = np.random.default_rng(0)
    mine = Policy(Belief(small_prior(True), 2), lambda view, rng, nodes, arms: nodes)
    message = "rule must have a method odds to give propensities, got <function"
    with pytest.raises(ValueError, match=message):
        mine.act_with_propensities(rng, [0])
    with pytest.raises(ValueError, match=message):
        mine.check_propensities()
    with pytest.raises(ValueError, match="draws must be a whole number of at least 1"):
        small_policy("TS", True).act_with_propensities(rng, [0], draws=0)
    with pytest.raises(ValueError, match="floor must be in"):
        small_policy("TS", True).act_with_propensities(rng, [0], draws=5, floor=1.5)


def test_tasks_act_and_learn_at_the_nodes_they_are_given():
    belief, reference = (Belief(marginal(small_prior(True)), 2) for _ in range(2))
    policy = Policy(belief, greedy, node_of=np.array([1, 0, 1]))
    policy.learn([0, 2, 1], [0, 0, 2], [5.0, 5.0, 5.0])
    reference.observe([1, 1, 0], [0, 0, 2], [5.0, 5.0, 5.0])
    assert belief_state(belief) == belief_state(reference)
    assert policy.act(np.random.default_rng(0), [0, 1, 2]).tolist() == [0, 2, 0]
    means = policy.predict([0, 1, 2], [0, 0, 0]).mean
    assert means[0] == means[2] == reference.predict([1], [0]).mean[0] != means[1]
    with pytest.raises(ValueError, match=r"tasks must be in \[0, 3\), got 3: there are 3 tasks"):
        policy.act(np.random.default_rng(0), [3])


def test_propensities_of_checked_arrays_are_those_of_act():
    policy = small_policy("HierTS", True)
    arms = Arms.of(None, 3, D, armed=True)
    checked, acted = (np.random.default_rng(5) for _ in range(2))
    choices, shares = policy._raw_choose_with_propensities(
        checked, np.array([0, 7, 0]), arms, draws=9, floor=0.2
    )
    again, shares_again = policy.act_with_propensities(acted, [0, 7, 0], draws=9, floor=0.2)
    np.testing.assert_array_equal(choices, again)
    np.testing.assert_array_equal(shares, shares_again)


def test_a_generator_must_be_given():
    """Without one a policy of any rule would be greedy, and say nothing."""
    policy = small_policy("HierTS", True)
    for act in (policy.act, policy.act_with_propensities):
        for wrong in (None, 0, np.random.RandomState(0)):
            with pytest.raises(ValueError, match="rng must be a numpy Generator, got"):
                act(wrong, [0, 1])
    with pytest.raises(ValueError, match="rng must be a numpy Generator, got None"):
        policy.belief.sample(None, [0])


def test_the_parts_of_a_policy_are_checked_and_its_nodes_copied():
    belief, nodes = Belief(small_prior(True), 3), np.array([2, 0])
    policy = Policy(belief, greedy, node_of=nodes)
    nodes[:] = 10**6
    assert policy.predict([0], [1]).mean.shape == (1,)
    for parts, message in (
        ((belief, greedy, [0, 10**6]), "tasks must be in"),
        ((belief, "greedy", None), "rule must be a function"),
        (("belief", greedy, None), "belief must be a Posterior"),
    ):
        with pytest.raises(ValueError, match=message):
            Policy(parts[0], parts[1], node_of=parts[2])
    policy.belief = Belief(small_prior(True), 1)
    with pytest.raises(ValueError, match="tasks must be in"):
        policy.act(np.random.default_rng(0), [0])
