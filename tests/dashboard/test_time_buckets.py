import numpy as np
import pytest

from hierbandits.dashboard.time_buckets import Buckets


def buckets(width=1.0, most=8):
    def merge(one, other):
        one[0] += other[0]

    return Buckets(width, most, lambda: [0.0], merge)


def test_numbers_that_lie_together_are_summed_together():
    found = buckets()
    for value in (0.1, 0.9, 1.0, 3.5):
        found.at(value)[0] += 1
    assert found.rows() == [(0.0, [2.0]), (1.0, [1.0]), (3.0, [1.0])]


@pytest.mark.parametrize("seed", range(5))
def test_there_are_never_too_many_and_nothing_is_lost(seed):
    rng = np.random.default_rng(seed)
    found, values = buckets(1e-6), rng.normal(0, 10.0 ** rng.integers(-3, 4), 300)
    for value in values:
        found.at(value)[0] += 1
        assert len(found.sums) <= 8
    assert sum(row[0] for _, row in found.rows()) == 300
    for start, row in found.rows():
        inside = ((values >= start) & (values < start + found.width)).sum()
        assert row[0] == inside


def test_a_doubling_keeps_the_borders_of_old_buckets():
    found = buckets(most=4)
    for value in range(-2, 7):
        found.at(value)[0] += 1
    assert found.width == 4.0
    assert [start for start, _ in found.rows()] == [-4.0, 0.0, 4.0]


def test_it_goes_on_from_what_it_was():
    found, again = buckets(), buckets()
    found.at(5.5)[0] = 3.0
    again.restore(found.state())
    assert again.rows() == found.rows()
    assert again.width == found.width
