"""The forced start: the best spanning arms, each once in every task."""

from itertools import combinations

import numpy as np
import pytest

from hierbandits import POLICIES, GaussianHierarchy, SpanningArms
from hierbandits.policies import spanning_arms


def _eta(x):
    return np.linalg.eigvalsh(x.T @ x)[0]


@pytest.mark.parametrize("seed", range(5))
def test_few_subsets_are_searched_exhaustively(seed):
    x = np.random.default_rng(seed).uniform(-0.5, 0.5, (9, 3))
    found = SpanningArms.of(x)
    best = max(_eta(x[list(subset)]) for subset in combinations(range(9), 3))
    assert found.eta == pytest.approx(best, rel=1e-9)
    assert _eta(x[found.arms]) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_many_subsets_are_searched_by_swaps(seed, monkeypatch):
    """Swaps end where no single swap helps, and near the best where that can be known."""
    x = np.random.default_rng(seed).standard_normal((14, 4))
    best = SpanningArms.of(x).eta
    monkeypatch.setattr(spanning_arms, "FEW_SUBSETS", 0)
    found = SpanningArms.of(x)
    assert len(set(found.arms)) == 4
    assert found.eta == pytest.approx(_eta(x[found.arms]), rel=1e-9)
    assert 0.5 * best <= found.eta <= best * (1 + 1e-9)
    for place in range(4):
        for other in set(range(14)) - set(found.arms):
            swapped = found.arms.copy()
            swapped[place] = other
            assert _eta(x[swapped]) <= found.eta * (1 + 1e-6)


def test_large_sets_take_the_second_way():
    x = np.random.default_rng(0).standard_normal((60, 8))
    found = SpanningArms.of(x)
    assert found.arms.size == 8
    assert found.eta > np.median([_eta(x[i : i + 8]) for i in range(50)])


def test_a_set_that_does_not_span_is_projected():
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.standard_normal((5, 5)))[0][:, :2]
    flat = rng.standard_normal((6, 2))
    found = SpanningArms.of(flat @ plane.T)
    assert found.arms.size == 2
    assert found.eta == pytest.approx(SpanningArms.of(flat).eta, rel=1e-9)
    nothing = SpanningArms.of(np.zeros((3, 2)))
    assert (nothing.arms.size, nothing.eta) == (0, 0.0)


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
    from hierbandits import Arms

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
