"""Spanning arms: the best subset where all can be tried, a good one otherwise."""

from itertools import combinations

import numpy as np
import pytest

from hierbandits import SpanningArms
from hierbandits.policies import spanning_arms


def _eta(x):
    return np.linalg.eigvalsh(x.T @ x)[0]


@pytest.mark.parametrize("seed", range(5))
def test_few_subsets_are_searched_exhaustively(seed):
    x = np.random.default_rng(seed).uniform(-0.5, 0.5, (9, 3))
    spanning = SpanningArms.of(x)
    best = max(_eta(x[list(subset)]) for subset in combinations(range(9), 3))
    assert spanning.eta == pytest.approx(best, rel=1e-9)
    assert _eta(x[spanning.arms]) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_many_subsets_are_searched_by_swaps(seed, monkeypatch):
    """Swaps end where no single swap helps, and near the best where that can be known."""
    x = np.random.default_rng(seed).standard_normal((14, 4))
    best = SpanningArms.of(x).eta
    monkeypatch.setattr(spanning_arms, "FEW_SUBSETS", 0)
    spanning = SpanningArms.of(x)
    assert len(set(spanning.arms)) == 4
    assert spanning.eta == pytest.approx(_eta(x[spanning.arms]), rel=1e-9)
    assert 0.5 * best <= spanning.eta <= best * (1 + 1e-9)
    for place in range(4):
        for other in set(range(14)) - set(spanning.arms):
            swapped = spanning.arms.copy()
            swapped[place] = other
            assert _eta(x[swapped]) <= spanning.eta * (1 + 1e-6)


def test_large_sets_take_the_second_way():
    x = np.random.default_rng(0).standard_normal((60, 8))
    spanning = SpanningArms.of(x)
    assert spanning.arms.size == 8
    assert spanning.eta > np.median([_eta(x[i : i + 8]) for i in range(50)])


def test_a_set_that_does_not_span_is_projected():
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.standard_normal((5, 5)))[0][:, :2]
    flat = rng.standard_normal((6, 2))
    spanning = SpanningArms.of(flat @ plane.T)
    assert spanning.arms.size == 2
    assert spanning.eta == pytest.approx(SpanningArms.of(flat).eta, rel=1e-9)
    nothing = SpanningArms.of(np.zeros((3, 2)))
    assert (nothing.arms.size, nothing.eta) == (0, 0.0)
