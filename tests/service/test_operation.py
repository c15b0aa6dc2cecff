import asyncio
import json
import re

import pytest
from support.local_services import LocalService

from hierbandits.service.api_problem import Problem
from hierbandits.service.operation import Endpoint, Operation
from hierbandits.service.storage import StorageFailed
from hierbandits.service.wire import RewardRequest


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data", most_bytes=1000, patience=0.2) as local:
        yield local


def asked(local, handler, body=b"", headers=(), takes=None, chunks=None, wait=0.0, **options):
    """The status, headers and body with which one operation answers."""
    operation = Operation("test", "POST", "/test", None, handler, "A test.", takes, **options)
    sent, pieces = [], list(chunks or [body])

    async def receive():
        if not pieces:
            return {"type": "http.disconnect"}
        if wait:
            await asyncio.sleep(wait)
        piece = pieces.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message):
        sent.append(message)

    async def serve():
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/test",
            "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
            "path_params": {},
        }
        await Endpoint(local.service, operation)(scope, receive, send)

    local.run(serve())
    start, *rest = sent
    heads = {name.decode(): value.decode() for name, value in start["headers"]}
    content = b"".join(part.get("body", b"") for part in rest)
    return start["status"], heads, json.loads(content) if content else None


async def echo(call):
    return {"value": None if call.body is None else call.body.value}


async def nothing(call):
    return None


def test_what_a_handler_gives_is_the_reply(local):
    status, headers, content = asked(local, echo, b'{"value":1.5}', takes=RewardRequest, status=201)
    assert (status, content) == (201, {"value": 1.5})
    assert headers["content-type"] == "application/json"


def test_nothing_is_a_reply_without_a_body(local):
    status, _, content = asked(local, nothing)
    assert (status, content) == (204, None)


@pytest.mark.parametrize("given", ["abc-123", "x" * 100, "~!#"])
def test_a_request_keeps_its_id(local, given):
    assert asked(local, nothing, headers=[("x-request-id", given)])[1]["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 101, "a\tb", "\xe9"])
def test_an_id_that_logs_could_not_show_is_replaced(local, given):
    first, second = (
        asked(local, nothing, headers=[("x-request-id", given)])[1]["x-request-id"]
        for _ in range(2)
    )
    assert re.fullmatch("[0-9a-f]{12}-[0-9a-f]+", first)
    assert len({given, first, second}) == 3


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"value":NaN}', b'{"value":1e999}', b"\xff", b"[" * 900, b'{"v":1}']
)
def test_a_wrong_body_is_the_callers_fault(local, body):
    status, headers, content = asked(local, echo, body, takes=RewardRequest)
    assert (status, content["code"]) == (400, "bad_request")
    assert content["detail"].startswith("the body must be JSON of the right form")
    assert headers["content-type"] == "application/problem+json"


def test_a_body_that_says_it_is_too_large_is_not_read(local):
    headers = [("content-length", "1001")]
    status, _, content = asked(local, echo, b"", headers, takes=RewardRequest)
    assert (status, content["code"]) == (413, "too_large")


def test_a_body_that_becomes_too_large_is_not_read_to_its_end(local):
    chunks = [b" " * 400] * 10
    status, _, _ = asked(local, echo, takes=RewardRequest, chunks=chunks)
    assert status == 413
    body = b" " * 900 + b'{"value":1}'
    assert asked(local, echo, body, takes=RewardRequest)[0] == 200
    assert asked(local, echo, body, takes=RewardRequest, most_bytes=800)[0] == 413


def test_a_slow_body_is_given_up(local):
    chunks = [b" "] * 100
    status, headers, content = asked(local, echo, takes=RewardRequest, chunks=chunks, wait=0.05)
    assert (status, content["code"]) == (408, "timeout")
    assert headers["connection"] == "close"


def test_a_client_that_leaves_is_no_error_of_ours(local):
    status, _, content = asked(local, echo, takes=RewardRequest, chunks=[b"{", None])
    assert (status, content["code"]) == (400, "gone")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Problem(409, "conflict", "no"), 409, "conflict"),
        (StorageFailed("disk full"), 503, "storage_failed"),
        (RuntimeError("secret of the inside"), 500, "internal"),
    ],
)
def test_errors_have_their_answers_and_tell_nothing_of_the_inside(local, error, status, code):
    async def fail(call):
        raise error

    got, headers, content = asked(local, fail)
    assert (got, content["code"]) == (status, code)
    assert ("retry-after" in headers) == (status == 503)
    assert "secret" not in json.dumps(content)
    if status == 500:
        assert headers["x-request-id"] in content["detail"]


def test_who_must_come_again_later_hears_whole_seconds(local):
    async def busy(call):
        raise Problem(429, "busy", "later", retry_after=0.2)

    assert asked(local, busy)[1]["retry-after"] == "1"


def test_requests_are_counted_and_timed(local):
    for _ in range(3):
        asked(local, nothing)
    text = local.service.metrics.text().decode()
    assert 'hierbandits_requests_total{operation="test",status="204"} 3.0' in text
    assert 'hierbandits_request_seconds_count{operation="test"} 3.0' in text
