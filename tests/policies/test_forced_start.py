"""The forced start: every task plays each of its spanning arms once."""

import numpy as np

from hierbandits import POLICIES, Arms, GaussianHierarchy, SpanningArms
from hierbandits.policies import forced_start


def _policy(prior, m=3, populations=1):
    return POLICIES["HierTS-forced"](prior, num_tasks=m, num_populations=populations)


def _linear(d=2):
    return GaussianHierarchy(
        hyper_mean=np.zeros(d), hyper_cov=np.eye(d), task_cov=0.1 * np.eye(d), noise_std=0.5
    )


def test_every_task_plays_its_spanning_arms_first_even_twice_in_a_round():
    x = np.random.default_rng(2).uniform(-0.5, 0.5, (6, 2))
    expected = SpanningArms.of(x).arms
    policy, rng = _policy(_linear()), np.random.default_rng(0)
    first = policy.act(rng, [1, 0, 1], x)
    assert first.tolist() == [expected[0], expected[0], expected[1]]
    assert policy.act(rng, [0], x)[0] == expected[1]
    assert policy.forced.decided[:3].tolist() == [2, 2, 0]
    later = [int(policy.act(rng, [0], x)[0]) for _ in range(60)]
    assert set(later) - set(expected.tolist())  # now it samples, other arms too


def test_each_run_has_its_own_spanning_arms():
    sets = np.random.default_rng(3).uniform(-0.5, 0.5, (2, 6, 2))
    policy = _policy(_linear(), m=1, populations=2)
    choices = policy.act(np.random.default_rng(0), [1, 0], Arms.grouped(sets, [1, 0]))
    assert choices.tolist() == [SpanningArms.of(sets[1]).arms[0], SpanningArms.of(sets[0]).arms[0]]


def test_k_armed_tasks_play_every_arm_once():
    prior = GaussianHierarchy.armed(4, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    policy, rng = _policy(prior), np.random.default_rng(0)
    played = [int(policy.act(rng, [2])[0]) for _ in range(4)]
    assert played == [0, 1, 2, 3]


def test_a_forced_choice_has_propensity_one():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    policy, rng = _policy(prior), np.random.default_rng(0)
    for turn in range(2):
        choice, propensity = policy.act_with_propensities(rng, [0], draws=20)
        assert (choice[0], propensity[0]) == (turn, 1.0)
    _, propensity = policy.act_with_propensities(rng, [0], draws=20)
    assert propensity[0] < 1.0


def test_tasks_that_come_later_have_their_own_start():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    policy, rng = _policy(prior, m=1), np.random.default_rng(0)
    policy.act(rng, [0])
    new = policy.belief.add(1, 5)
    assert policy.act(rng, [*new, 0, *new]).tolist() == [0] * 5 + [1] * 6
    assert policy.forced.decided[new].tolist() == [2] * 5


def test_only_so_many_sets_are_remembered(monkeypatch):
    monkeypatch.setattr(forced_start, "MOST_SETS", 2)
    computed = []
    spanning = SpanningArms.of
    monkeypatch.setattr(
        forced_start.SpanningArms, "of", lambda x: computed.append(x[0, 0]) or spanning(x)
    )
    sets = np.random.default_rng(4).uniform(-0.5, 0.5, (3, 6, 2))
    sets[:, 0, 0] = 0.0, 0.1, 0.2
    policy, rng = _policy(_linear(), m=9), np.random.default_rng(0)
    for task, which in enumerate([0, 1, 0, 2, 1, 0]):
        policy.act(rng, [task], sets[which])
    assert computed == [0.0, 0.1, 0.2, 0.0]  # the first was forgotten for the third
