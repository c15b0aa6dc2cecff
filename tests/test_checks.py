"""Checks of arguments: what they let through, and what their messages name."""

import re

import numpy as np
import pytest

from hierbandits.checks import (
    LARGEST,
    count,
    first_index_outside,
    first_outside,
    float_array,
    generator,
    index_array,
    one_of,
    positive,
    probability,
    read_only,
    real_array,
    state_array,
    state_copy,
)

NAN, INF = float("nan"), float("inf")


def _frozen(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2, 3], [4, 5, 6]],
        np.array([[1, 2, 3], [4, 5, 6]], np.int16),
        np.array([[1, 2, 3], [4, 5, 6]], np.float32),
        np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        np.repeat([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 2, axis=1)[:, ::2],
        _frozen(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
    ],
    ids=["list", "integers", "single", "fortran", "strided", "frozen"],
)
def test_numbers_of_any_form_become_floats_that_kernels_take(value):
    array = real_array("x", value, (2, 3))
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert array.flags.writeable
    np.testing.assert_array_equal(array, [[1, 2, 3], [4, 5, 6]])
    assert not np.shares_memory(array, np.asarray(value))


def test_an_array_that_kernels_take_is_not_copied():
    floats, indices = np.ones((2, 3)), np.array([0, 1])
    assert real_array("x", floats, (2, None)) is floats
    assert index_array("tasks", indices, 2, "tasks") is indices


def test_booleans_and_empty_lists_are_numbers():
    assert real_array("x", [True, False], (2,)).tolist() == [1.0, 0.0]
    assert real_array("x", [], (0,)).dtype == np.float64
    assert real_array("x", 3, ()) == 3.0
    assert index_array("tasks", [], 0, "tasks").dtype == np.intp


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ([1.0, 2.0], (3,), r"^x must have shape \(3,\) to match y, got \(2,\)$"),
        ([1.0, 2.0], (2, None), r"^x must have shape \(2, any\) to match y, got \(2,\)$"),
        (1.0, (None,), r"^x must have shape \(any,\) to match y, got \(\)$"),
        ([[1.0]], (None,), r"^x must have shape \(any,\) to match y, got \(1, 1\)$"),
        ([[1.0, 2.0]], (None, 3), r"^x must have shape \(any, 3\) to match y, got \(1, 2\)$"),
        ([1.0], (), r"^x must have shape \(\) to match y, got \(1,\)$"),
        ([[1, 2], [3]], (2, 2), "^x must be numbers in rows of one length, got "),
        (["1", "2"], (2,), r"^x must be numbers, got \['1', '2'\]$"),
        ([None, 1.0], (2,), r"^x must be numbers, got \[None, 1.0\]$"),
        ([1j], (1,), "^x must be numbers, got "),
        ([1.0, NAN], (2,), r"^x must be finite and at most 1e\+60 in size, got nan at \[1\]$"),
        ([[0.0, 0.0], [-INF, NAN]], (2, 2), r"got -inf at \[1, 0\]$"),
        ([2e60], (1,), r"at most 1e\+60 in size, got 2e\+60 at \[0\]$"),
        (-2e60, (), r"at most 1e\+60 in size, got -2e\+60$"),
    ],
)
def test_what_is_no_array_of_numbers_is_named(value, shape, message):
    with pytest.raises(ValueError, match=message):
        real_array("x", value, shape, " to match y")


def test_the_largest_numbers_are_allowed():
    assert real_array("x", [LARGEST, -LARGEST], (2,)).tolist() == [1e60, -1e60]
    assert real_array("x", [3.0], (1,), largest=3.0) == [3.0]
    with pytest.raises(ValueError, match="at most 3 in size, got 4"):
        real_array("x", [4.0], (1,), largest=3.0)


def test_state_need_only_be_finite():
    assert state_array("mean", [1e300, -1e300], (2,)).tolist() == [1e300, -1e300]
    for bad in (NAN, INF, -INF):
        with pytest.raises(ValueError, match="mean must be finite"):
            state_array("mean", [0.0, bad], (2,))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64])
def test_indices_of_any_form_become_one_kind(dtype):
    array = index_array("tasks", np.array([0, 4, 4], dtype), 5, "tasks")
    assert array.dtype == np.intp
    assert array.tolist() == [0, 4, 4]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 5], r"^tasks must be in \[0, 5\), got 5: there are 5 nodes$"),
        ([0, -1], r"^tasks must be in \[0, 5\), got -1: there are 5 nodes$"),
        ([9, -1], r"got 9: there are 5 nodes$"),
        ([0.0], r"^tasks must be integers, got \[0.0\]$"),
        ([True], r"^tasks must be integers, got \[True\]$"),
        (["a"], "^tasks must be integers"),
        (0, r"^tasks must have shape \(any,\), got \(\)$"),
        ([[0]], r"^tasks must have shape \(any,\), got \(1, 1\)$"),
        ([[0], [1, 2]], "^tasks must be integers in rows of one length, got "),
    ],
)
def test_what_is_no_index_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        index_array("tasks", value, 5, "nodes")


def test_positive_numbers_have_squares_that_count():
    least = 1 / LARGEST
    assert positive("noise_std", [least, 2.0], (2,)).tolist() == [least, 2.0]
    assert positive("noise_std", [], (0,)).size == 0
    for bad in (0.0, -1.0):
        with pytest.raises(ValueError, match=f"noise_std must be positive, got {bad}"):
            positive("noise_std", [1.0, bad], (2,))
    with pytest.raises(ValueError, match="noise_std must be finite"):
        positive("noise_std", NAN, ())


def test_counts_are_whole_numbers():
    assert count("runs", 0) == 0
    assert type(count("runs", np.int32(3), least=3)) is int
    for bad, least in [(-1, 0), (2, 3), (1.0, 0), (True, 0), ("1", 0), (None, 0), (np.bool_(1), 0)]:
        with pytest.raises(ValueError) as error:  # noqa: PT011
            count("runs", bad, least=least)
        message = f"runs must be a whole number of at least {least}, got {bad!r}"
        assert str(error.value) == message


def test_probabilities_are_neither_0_nor_1():
    assert probability("confidence", 0.95) == 0.95
    for bad in (0, 1, -0.5, 95, NAN, "0.5", [0.5]):
        with pytest.raises(
            ValueError, match=re.escape(f"confidence must be in (0, 1), got {bad!r}")
        ):
            probability("confidence", bad)


def test_a_name_must_be_one_of_those_known():
    assert one_of("per", "task", ("run", "task")) == "task"
    for bad in ("day", "", None, 5, ["task"]):
        with pytest.raises(ValueError) as error:  # noqa: PT011
            one_of("per", bad, {"run": 1, "task": 2})
        assert str(error.value) == f"per must be one of run, task, got {bad!r}"


def test_the_first_bad_place_is_found():
    assert first_outside(np.array([[1.0, 2.0], [3.0, 4.0]]), 4.0) == -1
    assert first_outside(np.array([[1.0, -5.0], [NAN, 4.0]]), 4.0) == 1
    assert first_outside(np.array([1.0, NAN]), INF) == 1
    assert first_index_outside(np.array([0, 3]), 4) == -1
    assert first_index_outside(np.array([0, 3, 4, -1]), 4) == 2
    assert first_index_outside(np.array([0, -1]), 4) == 1
    assert first_index_outside(np.array([0]), 0) == 0


@pytest.mark.parametrize("check", [real_array, state_array])
def test_masked_entries_are_refused(check):
    """Their numbers would be learned as if nobody had masked them."""
    masked = np.ma.array([1.0, 999.0], mask=[False, True])
    for given in (masked, [masked, masked], ([1.0, 2.0], [masked, 3.0]), np.ma.masked):
        with pytest.raises(ValueError, match="rewards must not have masked entries"):
            check("rewards", given, (2,))
    whole = check("rewards", np.ma.array([1.0, 2.0], mask=False), (2,))
    assert type(whole) is np.ndarray
    with pytest.raises(ValueError, match="tasks must not have masked entries"):
        index_array("tasks", np.ma.array([1, 2], mask=[True, False]), 3, "tasks")


def test_arrays_that_kernels_cannot_take_are_copied():
    raw = np.zeros(17, np.uint8)
    astray = raw[1:].view(float)  # not where a processor looks for numbers
    assert not astray.flags.aligned
    assert real_array("x", astray, (2,)).flags.carray
    given = np.ones(2)
    assert real_array("x", given, (2,)) is given
    assert not np.shares_memory(state_copy("x", given, (2,)), given)
    assert not np.shares_memory(state_copy("x", [1.0, 2.0], (2,)), given)
    with pytest.raises(ValueError, match="read-only"):
        read_only(given)[0] = 2.0
    assert float_array("x", [[1, 2]]).dtype == float


def test_a_generator_is_numpys():
    rng = np.random.default_rng(0)
    assert generator("rng", rng) is rng
    for bad in (None, 0, np.random, np.random.RandomState(0)):
        with pytest.raises(ValueError, match="rng must be a numpy Generator, got"):
            generator("rng", bad)


def test_numbers_too_small_are_told_how_small_they_may_be():
    with pytest.raises(ValueError, match="width must be positive, at least 1e-60, got 1e-300"):
        positive("width", [1.0, 1e-300], (2,))
    with pytest.raises(ValueError, match=r"width must be positive, got -1\.0"):
        positive("width", [1.0, -1.0], (2,))
