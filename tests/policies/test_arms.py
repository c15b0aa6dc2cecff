"""Arms in every form a caller may give them, and what is refused."""

import numpy as np
import pytest

from hierbandits import Arms

RNG = np.random.default_rng(0)
SHARED = RNG.standard_normal((4, 3))
EACH = RNG.standard_normal((2, 4, 3))


def _linear(arms, eligible=None, events=2):
    return Arms.of(arms, events, 3, armed=False, eligible=eligible)


def _sets(arms):
    """The features of each event's arms and the numbers by which the caller knows them."""
    return [
        (arms.table[arms.rows_of(e)], (arms.rows_of(e) - arms.base[e]).tolist())
        for e in range(arms.start.size)
    ]


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (SHARED, [SHARED, SHARED]),
        (SHARED.tolist(), [SHARED, SHARED]),
        (EACH, EACH),
        ([SHARED[:2], SHARED[1:]], [SHARED[:2], SHARED[1:]]),
        ((SHARED[:1], SHARED), [SHARED[:1], SHARED]),
        (Arms.grouped(EACH, [1, 0]), [EACH[1], EACH[0]]),
    ],
)
def test_every_form_gives_each_event_its_arms(arms, expected):
    for (features, numbers), wanted in zip(_sets(_linear(arms)), expected, strict=True):
        np.testing.assert_array_equal(features, wanted)
        assert numbers == list(range(len(wanted)))


def test_sets_that_are_shared_are_not_copied():
    assert np.shares_memory(_linear(SHARED).table, SHARED)
    assert np.shares_memory(_linear(EACH).table, EACH)
    assert np.shares_memory(Arms.grouped(EACH, [0, 0, 1, 0]).table, EACH)


@pytest.mark.parametrize(
    ("arms", "mask", "numbers"),
    [
        (SHARED, [True, False, True, False], [[0, 2], [0, 2]]),
        (SHARED, np.array([[True, False, True, False], [False, True, True, True]]), None),
        (EACH, [[True, False, True, False], [False, True, True, True]], None),
        ([SHARED[:2], SHARED], [[False, True], [True, True, False, True]], [[1], [0, 1, 3]]),
        (Arms.grouped(EACH, [1, 1]), [True, False, True, False], [[0, 2], [0, 2]]),
    ],
)
def test_a_mask_leaves_the_eligible_arms_under_their_numbers(arms, mask, numbers):
    every, some = _sets(_linear(arms)), _sets(_linear(arms, mask))
    expected = numbers or [[0, 2], [1, 2, 3]]
    assert [left for _, left in some] == expected
    for (features, left), (whole, _) in zip(some, every, strict=True):
        np.testing.assert_array_equal(features, whole[left])


def test_armed_sets():
    assert [n for _, n in _sets(Arms.of(None, 2, 3, armed=True))] == [[0, 1, 2]] * 2
    some = Arms.of([2, 0], 2, 3, armed=True)
    assert some.features(np.array([0, 1])).tolist() == [2, 0]
    each = Arms.of([[2, 0], [1]], 2, 3, armed=True)
    assert each.features(np.array([1, 0])).tolist() == [0, 1]
    masked = Arms.of(None, 2, 3, armed=True, eligible=[False, True, True])
    assert [n for _, n in _sets(masked)] == [[1, 2]] * 2


@pytest.mark.parametrize(
    ("arms", "eligible", "message"),
    [
        (None, None, "arms must be given"),
        (SHARED[:, :2], None, "arms must have shape"),
        (SHARED[0], None, r"arms must have shape \(K, 3\) or \(2, K, 3\), got \(3,\)"),
        (RNG.standard_normal((3, 4, 3)), None, "arms must have shape"),
        ([SHARED], None, r"arms must hold 2 sets to match tasks, got 1"),
        ([SHARED, SHARED[:, :2]], None, "arms must have shape"),
        ([SHARED, SHARED[:0]], None, "at least one arm for every event"),
        (SHARED[:0], None, "at least one arm for every event"),
        (SHARED * np.nan, None, "arms must be finite"),
        (SHARED, [True, False], r"eligible must be booleans of shape \(4,\)"),
        (SHARED, [1, 0, 1, 0], "eligible must be booleans"),
        (SHARED, [[True] * 4], "eligible must have 2 masks"),
        (SHARED, [False] * 4, "eligible must leave an arm, got none for event 0"),
        (SHARED, True, "eligible must be"),
        (SHARED, np.array(True), "eligible must be"),
        (SHARED, "yes", "eligible must be"),
        (SHARED, [], "eligible must have 2 masks"),
        (5, None, "arms must have shape"),
        ([[1.0, 2.0, 3.0], [1.0]], None, "arms must be numbers in rows of one length"),
        (Arms.grouped(EACH, [0]), None, "arms must serve 2 events, got 1"),
    ],
)
def test_bad_arms_are_named(arms, eligible, message):
    with pytest.raises(ValueError, match=message):
        _linear(arms, eligible)


def test_bad_groups_and_indices_are_named():
    with pytest.raises(ValueError, match="group must be in"):
        Arms.grouped(EACH, [2])
    with pytest.raises(ValueError, match="sets must have shape"):
        Arms.grouped(SHARED, [0])
    with pytest.raises(ValueError, match="arms must be in"):
        Arms.of([0, 3], 1, 3, armed=True)
    with pytest.raises(ValueError, match="arms must be integers"):
        Arms.of([0.5], 1, 3, armed=True)


def test_the_best_score_wins_and_ties_are_even():
    arms = _linear([SHARED[:2], SHARED])
    rng = np.random.default_rng(1)
    scores = np.array([1.0, 2.0, 3.0, 5.0, 4.0, 5.0])
    picks = np.array([arms.best(scores, rng) for _ in range(4000)])
    assert set(picks[:, 0]) == {1}
    assert set(picks[:, 1]) == {1, 3}
    share = (picks[:, 1] == 1).mean()
    assert abs(share - 0.5) < 6 * 0.5 / np.sqrt(4000)


def test_rows_of_a_table_keep_their_numbers():
    table = np.arange(10.0).reshape(5, 2)
    arms = Arms._raw_of_rows(table, np.array([4, 0, 2, 2, 3]), np.array([2, 1, 2]))
    assert np.shares_memory(arms.table, table)
    assert [arms.rows_of(event).tolist() for event in range(3)] == [[4, 0], [2], [2, 3]]
    np.testing.assert_array_equal(arms.flat_rows(), [4, 0, 2, 2, 3])
    np.testing.assert_array_equal(arms.numbers(np.array([1, 0, 1])), [0, 2, 3])
    np.testing.assert_array_equal(arms.features(np.array([0, 2, 3])), table[[0, 2, 3]])


def test_repeated_events_keep_their_arms():
    arms = _linear([SHARED[:2], SHARED])
    again = _sets(arms.repeated(3))
    assert [numbers for _, numbers in again] == [[0, 1], [0, 1, 2, 3]] * 3
    assert arms.flat_rows().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("armed", [False, True])
def test_values_and_numbers_are_those_of_the_eligible_arms(armed):
    theta = np.random.default_rng(2).standard_normal((2, 3))
    masks = [[True, False, True], [False, True, True]]
    table = np.eye(3)[[2, 0, 1]] if armed else SHARED[:3]
    arms = Arms.of([2, 0, 1] if armed else table, 2, 3, armed=armed, eligible=masks)
    expected = [table[k] @ theta[e] for e, k in ((0, 0), (0, 2), (1, 1), (1, 2))]
    np.testing.assert_allclose(arms.values(theta), expected)
    assert arms.numbers(np.array([1, 0])).tolist() == [2, 1]


def test_nobody_can_write_into_arms_or_make_them_by_hand():
    arms, other = _linear(SHARED), _linear(SHARED)
    for name in ("table", "rows", "start", "offset", "base"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(arms, name)[...] = 10**9
        with pytest.raises(AttributeError):
            setattr(arms, name, np.zeros(1, np.intp))
    assert [numbers for _, numbers in _sets(other)] == [[0, 1, 2, 3]] * 2  # a shared layout
    with pytest.raises(TypeError, match=r"made by Arms\.of or Arms\.grouped"):
        Arms()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda arms: Arms.grouped(np.empty((2, 0, 3)), [0, 1]), "sets must have at least one arm"),
        (lambda arms: Arms.of(SHARED, -1, 3, armed=False), "num_events must be a whole number"),
        (lambda arms: arms.best(np.ones(7), RNG), r"scores must have shape \(8,\)"),
        (lambda arms: arms.best([np.nan] * 8, RNG), "scores must be finite"),
        (lambda arms: arms.best(np.ones(8), None), "rng must be a numpy Generator, got None"),
        (lambda arms: arms.values(np.ones((3, 3))), r"theta must have shape \(2, 3\)"),
        (lambda arms: arms.numbers([0, 4]), "places must be in"),
        (lambda arms: arms.numbers([0]), "places must match 2 events, got 1"),
        (lambda arms: arms.features([0, -1]), "choices must be in"),
        (lambda arms: arms.features([0, 1, 2]), "choices must match 2 events, got 3"),
        (lambda arms: arms.rows_of(2), "event must be in"),
        (lambda arms: arms.repeated(-1), "times must be a whole number"),
    ],
)
def test_questions_that_do_not_fit_the_arms_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(_linear(SHARED))


def test_a_place_or_a_choice_is_of_its_own_event():
    arms = _linear([SHARED[:2], SHARED])
    with pytest.raises(ValueError, match="places must be below"):
        arms.numbers([2, 0])
    with pytest.raises(ValueError, match="choices must be arms of the 6 rows"):
        arms.features([0, 5])
    armed = Arms.of([2, 0], 1, 3, armed=True)
    with pytest.raises(ValueError, match="arms must be in"):
        armed.values(np.ones((1, 2)))


def test_masked_arms_are_refused():
    masked = np.ma.array(EACH, mask=EACH > 0)
    for arms in (masked, [masked[0], EACH[1]], masked[0]):
        with pytest.raises(ValueError, match="arms must not have masked entries"):
            _linear(arms)
    with pytest.raises(ValueError, match="eligible must not have masked entries"):
        _linear(SHARED, np.ma.array([True] * 4, mask=[True, False, False, False]))
