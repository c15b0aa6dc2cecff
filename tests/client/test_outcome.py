"""What became of a request: answers, problems, pages of proxies, silence."""

import time
from email.utils import formatdate

import httpx
import pytest

from hierbandits.client.client_errors import NotFound, ServiceError, Unavailable
from hierbandits.client.client_request import ClientRequest
from hierbandits.client.outcome import Outcome

ASK = ClientRequest("GET", "/x", lambda reply: reply["value"])


def test_an_answer_is_read():
    assert Outcome.answer(200, {}, b'{"value": 3}').value(ASK) == 3
    assert Outcome.answer(204, {}, b"").value(ClientRequest("GET", "/", lambda r: r)) is None


@pytest.mark.parametrize("content", [b"", b"<html>", b"[1]", b"{}", b"\xff", b"[" * 100_000])
def test_an_answer_of_something_else_is_named(content):
    with pytest.raises(ServiceError, match="must be of a hierbandits service"):
        Outcome.answer(200, {}, content).value(ASK)


def test_a_problem_has_the_services_words():
    headers = {"x-request-id": "r1"}
    with pytest.raises(NotFound, match="policy 'x' is not known") as error:
        Outcome.answer(404, headers, b'{"detail": "policy \'x\' is not known"}').value(ASK)
    assert error.value.request_id == "r1"
    with pytest.raises(Unavailable, match="the service answered 503"):
        Outcome.answer(503, {}, b"<html>").value(ASK)


@pytest.mark.parametrize(
    ("text", "seconds"), [("3", 3.0), ("soon", None), ("-1", None), ("nan", None), ("", None)]
)
def test_how_long_the_service_asks_to_wait(text, seconds):
    assert Outcome.answer(503, {"retry-after": text}, b"").retry_after == seconds


def test_a_date_to_come_again():
    later = {"retry-after": formatdate(time.time() + 60, usegmt=True)}
    assert 50 < Outcome.answer(503, later, b"").retry_after < 70
    past = {"retry-after": formatdate(time.time() - 60, usegmt=True)}
    assert Outcome.answer(503, past, b"").retry_after == 0


@pytest.mark.parametrize(
    ("error", "was_sent"),
    [
        (httpx.ConnectError("refused"), False),
        (httpx.ConnectTimeout("slow"), False),
        (httpx.ReadTimeout(""), True),
        (httpx.RemoteProtocolError("closed"), True),
    ],
)
def test_silence(error, was_sent):
    outcome = Outcome.silence(error, "http://x")
    assert outcome.was_sent == was_sent
    with pytest.raises(Unavailable, match=f"no answer from http://x: {error or 'ReadTimeout'}"):
        outcome.value(ASK)
