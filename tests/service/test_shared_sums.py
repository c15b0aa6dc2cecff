"""The numbers of tasks as rows keep them: sums of rewards, and of sites behind them."""

import numpy as np
import pytest

from hierbandits.beliefs.single_site import Site
from hierbandits.service.shared_sums import Behind, SharedSums


def again(sums, dim):
    rows = [sums.row(place) for place in range(len(sums))]
    return SharedSums(rows, dim, armed=sums.armed, has_sites=sums.has_sites)


@pytest.mark.parametrize("has_sites", [False, True])
@pytest.mark.parametrize("armed", [False, True])
def test_rows_come_back_as_they_were(armed, has_sites):
    sums = SharedSums([None, None, None], 2, armed=armed, has_sites=has_sites)
    features = 1 if armed else np.array([0.5, -2.0])
    sums.learn(1, features, None, 3.0)
    sums.learn(1, features, 3.0, 4.0)
    if has_sites:
        sums.add_site(1, features, Site(0.25, 7.0))
    found, known = again(sums, 2), sums.known()
    assert len(found) == 3
    for name, values in known.state().items():
        np.testing.assert_array_equal(found.known().state()[name], values)
    assert known.n.tolist() == [0, 1, 0]
    assert found.rewards.total(3).yy.tolist() == [0, 16, 0]
    scale = 7.0 if has_sites else 4.0
    expected = [0, scale] if armed else [0.5 * scale, -2 * scale]
    assert known.xy[1].tolist() == expected
    square = [0, 1] if armed else [[0.25, -1], [-1, 4]]
    np.testing.assert_array_equal(known.xx[1], np.array(square) * (0.25 if has_sites else 1.0))


def test_no_rows_are_no_tasks():
    assert len(SharedSums([], 3, armed=False, has_sites=True)) == 0
    assert SharedSums([], 3, armed=False, has_sites=False).known().n.size == 0


def test_an_arm_has_a_total_and_a_site():
    sums = SharedSums([None], 3, armed=True, has_sites=True)
    for value in (1.0, 0.0, 1.0):
        sums.learn(0, 2, None, value)
    sums.add_site(0, 2, Site(0.5, -1.0))
    sums.add_site(0, 2, Site(-0.25, 2.0))
    assert sums.arm_total(0, 2) == (2.0, 3.0)
    assert sums.arm_site(0, 2) == (0.25, 1.0)
    assert sums.arm_site(0, 0) == (0.0, 0.0)


@pytest.mark.parametrize("has_sites", [False, True])
def test_rows_of_fewer_arms_have_room_for_more(has_sites):
    sums = SharedSums([None, None], 2, armed=True, has_sites=has_sites)
    sums.learn(1, 1, None, 3.0)
    if has_sites:
        sums.add_site(1, 1, Site(0.25, 7.0))
    wide = again(sums, 4)
    assert wide.arm_total(1, 1) == (3.0, 1.0)
    assert wide.arm_total(1, 3) == (0.0, 0.0)
    assert wide.rewards.total(2).yy.tolist() == [0, 9]
    assert wide.known().n.tolist() == [0, 1]
    if has_sites:
        assert [wide.arm_site(1, arm) for arm in (1, 2)] == [(0.25, 7.0), (0.0, 0.0)]
    wide.learn(0, 3, None, 1.0)
    with pytest.raises(Behind, match="a task's row must have"):
        again(wide, 2)
    with pytest.raises(Behind, match="arm 2 must be one of 2"):
        sums.learn(0, 2, None, 1.0)
