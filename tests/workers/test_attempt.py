"""Work on a worker: what it returns, and the errors that it raises, come back as they are."""

import pickle

import pytest
from support.lost_workers import refused

from hierbandits.workers.attempt import attempted, outcome


def test_a_result_comes_back():
    assert outcome(pickle.loads(pickle.dumps(attempted(refused, 7)))) == 7


def test_an_error_comes_back_and_is_raised_where_it_is_asked_for():
    attempt = pickle.loads(pickle.dumps(attempted(refused, 2)))
    with pytest.raises(ValueError, match=r"^number must not be 2, got 2$"):
        outcome(attempt)


def test_an_interrupt_is_no_result():
    def interrupted(item):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempted(interrupted, 1)
