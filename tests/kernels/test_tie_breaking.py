"""The best arm of each event, and how ties are broken."""

import numpy as np
import pytest

from hierbandits.kernels.tie_breaking import best, pick


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
    assert not best(scores, np.empty(0), rows, start, offset, base, out)
    assert out.tolist() == [2, 4]
    assert best(np.ones(4), np.array([0.9, 0.1]), rows, start, offset, base, out)
    assert out.tolist() == [2, 4]
