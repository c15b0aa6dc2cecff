import copy
import mmap
import pickle
import resource

import numpy as np
import pytest
from support.states import belief_state

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs import reserved_rows
from hierbandits.beliefs.reserved_rows import ReservedRows

RESERVES = pytest.mark.skipif(not reserved_rows._CAN_RESERVE, reason="this system copies")


def _refuse(*_, **__):
    raise OSError("no memory")


@pytest.mark.parametrize("reserving", [True, False])
def test_rows_stay_as_they_were(reserving, monkeypatch):
    if not reserving:
        monkeypatch.setattr(mmap, "mmap", _refuse)
    room, rng = ReservedRows(), np.random.default_rng(0)
    array, expected = np.empty((0, 2, 3)), np.empty((0, 2, 3))
    for number in (1, 1, 3, 40, 200):
        used = len(expected)
        array = room.with_room(array, used, used + number)
        new = rng.normal(size=(number, 2, 3))
        expected = np.concatenate([expected, new])
        array[used : used + number] = new
        np.testing.assert_array_equal(array[: len(expected)], expected)
        assert len(array) < 2 * len(expected)
        assert array.flags.carray


def test_what_is_known_at_once_is_exact():
    array = ReservedRows().with_room(np.empty((0, 4)), 0, 7)
    assert array.shape == (7, 4)


@RESERVES
@pytest.mark.parametrize("at_once", [True, False])
def test_rows_that_were_reserved_stay_where_they_are(at_once):
    room = ReservedRows()
    ones = np.ones((5, 4))
    array = room.reserve(ones) if at_once else room.with_room(ones, 5, 6)
    first = array.ctypes.data
    for needed in (10, 1_000, 100_000):
        array = room.with_room(array, 5, needed)
        assert array.ctypes.data == first
        assert (array[:5] == 1.0).all()
        assert len(array) >= needed


@RESERVES
def test_an_array_from_elsewhere_is_moved():
    room = ReservedRows()
    mine = room.reserve(np.zeros((3, 2)))
    other = room.with_room(np.ones((3, 2)), 3, 4)
    assert (other[:3] == 1.0).all()
    assert (mine == 0.0).all()


@RESERVES
def test_the_system_may_refuse_the_largest_reserve(monkeypatch):
    asked, reserve = [], mmap.mmap

    def small(number, length, **options):
        asked.append(length)
        if length > 1 << 36:
            raise OSError("too much")
        return reserve(number, length, **options)

    monkeypatch.setattr(mmap, "mmap", small)
    array = ReservedRows().reserve(np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(array, [[0, 1], [2, 3], [4, 5]])
    assert len(asked) == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_grows_by_itself(copied):
    room = ReservedRows()
    array = room.reserve(np.ones((3, 2)))
    twin_room, twin = copied((room, array))
    twin = twin_room.with_room(twin, 3, 4)
    assert (twin[:3] == 1.0).all()
    twin[:3] = 2.0
    assert (array == 1.0).all()


def test_copies_of_a_belief_grow_by_themselves(tmp_path):
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    belief = Belief(prior)
    root = int(belief.roots[0])
    for number in range(20):
        belief.observe([belief.add(root)[0]], [[1.0, 0.1 * number]], [1.0])
    belief.save(tmp_path / "belief")
    before = belief_state(belief)
    for twin in (belief.copy(), Belief.load(tmp_path / "belief")):
        assert belief_state(twin) == before
        for _ in range(50):
            twin.observe([twin.add(root)[0]], [[2.0, 1.0]], [-1.0])
        assert twin.num_nodes == 71
        assert belief_state(belief) == before


def test_empty_rows_reserve_nothing():
    assert len(ReservedRows().reserve(np.empty((0, 3)))) == 0


@RESERVES
def test_many_arrays_leave_addresses_to_others():
    """A process has 2^47 of them, and whoever wants a large array needs some."""
    before = sum(reserved_rows._HELD.values())
    rooms, ones = [ReservedRows() for _ in range(1500)], np.ones((5, 4))
    arrays = [room.reserve(ones) for room in rooms]
    assert all((array == 1.0).all() for array in arrays)
    held = sum(reserved_rows._HELD.values())
    assert 1 << 44 < held < reserved_rows._MOST
    sizes = [room._all.nbytes for room in rooms]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[200] > 1 << 30
    assert sizes[-1] < 1 << 10  # those that come late are copied when they grow
    del rooms, arrays
    assert sum(reserved_rows._HELD.values()) == before


@RESERVES
def test_a_limit_of_addresses_leaves_most_of_them_to_others(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 33, 1 << 33))
    room = ReservedRows()
    assert room.reserve(np.ones((5, 4))).shape == (5, 4)
    assert room._all.nbytes < 1 << 10
