"""Room on the stack."""

import numpy as np
from numba import carray, njit

from hierbandits.kernels.stack_room import ROOM, stack_room


@njit
def _halves(number):
    room = carray(stack_room(), (ROOM,), np.float64)
    for i in range(ROOM):
        room[i] = number / 2
    return room.sum()


@njit
def _twice(number):
    """A function that is called in between has room of its own."""
    room = carray(stack_room(), (ROOM,), np.float64)
    for i in range(ROOM):
        room[i] = number
    return _halves(number) + room.sum()


def test_there_is_room_for_all_numbers_of_each_call():
    assert _twice(3.0) == 1.5 * 3.0 * ROOM
