"""Parcels of work: how large they are, and what comes back of them."""

import pickle

import pytest
from support.lost_workers import refused

from hierbandits.workers.parcels import SECONDS, Attempt, Parcels, attempted


def outcome_of(parcel):
    """What the caller has of a parcel that a worker has done."""
    return Parcels([]).outcome(pickle.loads(pickle.dumps(attempted(refused, parcel))))


def sizes(seconds_each, num_items, workers):
    """The sizes of all parcels, each of which is done before the next is made."""
    parcels, found = Parcels(range(num_items)), []
    while parcel := parcels.next(workers):
        found.append(len(parcel))
        list(parcels.outcome(Attempt(parcel, None, seconds_each * len(parcel))))
    assert sum(found) == num_items
    return found


def test_results_come_back_with_their_places():
    assert list(outcome_of([(3, 7), (5, 0)])) == [(3, 7), (5, 0)]


def test_an_error_comes_back_and_is_raised_after_the_results_before_it():
    outcome = outcome_of([(0, 7), (1, 2), (2, 8)])
    assert next(outcome) == (0, 7)
    with pytest.raises(ValueError, match=r"^number must not be 2, got 2$"):
        next(outcome)


def test_an_interrupt_is_no_result():
    def interrupted(item):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempted(interrupted, [(0, 1)])


def test_an_attempt_knows_its_time():
    assert attempted(refused, [(0, 7)]).seconds > 0


def test_pieces_travel_alone_until_their_time_is_known():
    parcels = Parcels(range(100))
    assert [len(parcels.next(2)) for _ in range(4)] == [1, 1, 1, 1]


def test_short_pieces_travel_together_and_long_ones_alone():
    assert sizes(SECONDS / 8, 1000, 2)[1:100] == [8] * 99
    assert sizes(SECONDS * 1.5, 20, 2) == [1] * 20


def test_workers_share_what_is_left_so_that_they_end_together():
    assert sizes(SECONDS / 1e6, 100, 2)[:4] == [1, 25, 19, 14]
    assert sizes(SECONDS / 1e6, 100, 2)[-4:] == [1, 1, 1, 1]
    assert sizes(SECONDS / 1e6, 100, 200) == [1] * 100


def test_the_time_of_all_pieces_counts():
    parcels = Parcels(range(100))
    for seconds in (SECONDS / 2, SECONDS / 6):
        list(parcels.outcome(Attempt(parcels.next(1), None, seconds)))
    assert len(parcels.next(1)) == 4  # three pieces took two thirds of the time of a parcel


def test_every_piece_is_given_out_once_in_order():
    parcels, found = Parcels("abcdefg"), []
    while parcel := parcels.next(1):
        found += parcel
        list(parcels.outcome(Attempt(parcel, None, 0.1)))
    assert found == list(enumerate("abcdefg"))
