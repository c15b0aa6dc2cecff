"""The best arm of each event, and how ties are broken."""

import numpy as np
import pytest

from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.kernels.tie_breaking import best, best_armed, best_linear, pick


@pytest.mark.parametrize(
    ("values", "uniform", "place"),
    [
        ([1.0, 3.0, 2.0], 0.9, 1),
        ([3.0, 1.0, 3.0, 3.0], 0.0, 0),
        ([3.0, 1.0, 3.0, 3.0], 0.5, 2),
        ([3.0, 1.0, 3.0, 3.0], 0.99, 3),
        ([1.0, 1.0, 2.0, 2.0], 0.7, 3),  # earlier ties that were beaten do not count
    ],
)
def test_of_tied_places_the_uniform_number_decides(values, uniform, place):
    tied = values.count(max(values)) > 1
    assert pick(np.array(values), 0, len(values), uniform) == (place, tied)


def test_numbers_are_counted_from_each_events_base():
    rows = np.array([4, 6, 9, 5])  # the eligible rows of two events: 4, 6 and 9, 5
    start, offset, base = np.array([0, 2]), np.array([0, 2, 4]), np.array([4, 5])
    out = np.empty(2, np.intp)
    scores = np.array([0.0, 1.0, 2.0, 1.0])
    arms = ArmArrays((np.empty((10, 2)), rows, start, offset, base))
    assert not best(scores, arms, np.empty(0), out)
    assert out.tolist() == [2, 4]
    assert best(np.ones(4), arms, np.array([0.9, 0.1]), out)
    assert out.tolist() == [2, 4]


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 8, 11])
def test_the_best_arms_under_parameters_are_those_of_plain_numpy(dim):
    rng = np.random.default_rng(dim)
    table, theta = rng.standard_normal((9, dim)), rng.standard_normal((6, dim))
    rows, sizes = np.array([3, 1, 8, 0, 2, 7, 5]), [3, 3, 1]
    start = np.array([0, 0, 2])  # the first two events have the same arms
    offset, base = np.append(0, np.cumsum(sizes)), np.array([0, 1, 0])
    slots, out = rng.integers(0, 6, 6), np.empty(6, np.intp)  # two turns of three events
    arms = ArmArrays((table, rows, start, offset, base))
    assert not best_linear(theta, slots, arms, np.empty(0), out)
    for turn, slot in enumerate(slots):
        e = turn % 3
        own = rows[start[e] : start[e] + sizes[e]]
        assert out[turn] == own[(table[own] @ theta[slot]).argmax()] - base[e]
    arms = ArmArrays((rng.integers(0, dim, 9), *arms[1:]))
    tied = best_armed(theta, slots, arms, np.empty(0), out)
    for turn, slot in enumerate(slots):
        e = turn % 3
        own = rows[start[e] : start[e] + sizes[e]]
        values = theta[slot, arms[0][own]]
        assert values[(own - base[e]).tolist().index(out[turn])] == values.max()
        tied |= (values == values.max()).sum() > 1
    assert tied == any(
        (theta[slot, arms[0][own]] == theta[slot, arms[0][own]].max()).sum() > 1
        for slot, e in zip(slots, [0, 1, 2] * 2, strict=True)
        for own in [rows[start[e] : start[e] + sizes[e]]]
    )
