"""Errors of the service: a class for each that a caller may want to tell apart."""

import pickle

import pytest

from hierbandits.client.client_errors import KINDS, ServiceError, Unavailable, error_of


@pytest.mark.parametrize("status", [*KINDS, 418, 500])
def test_a_problem_becomes_its_error(status):
    error = error_of(status, {"detail": "why", "code": "word"}, "request-1")
    assert type(error) is KINDS.get(status, ServiceError)
    assert (str(error), error.status, error.code, error.request_id) == (
        "why", status, "word", "request-1",
    )  # fmt: skip


def test_an_answer_without_words():
    assert str(error_of(502, {})) == "the service answered 502"


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(error_of(409, {"detail": "why", "code": "conflict"}, "r")))
    assert (str(error), error.code, error.status, error.request_id) == ("why", "conflict", 409, "r")
    assert pickle.loads(pickle.dumps(Unavailable("gone"))).status is None
