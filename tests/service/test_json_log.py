import io
import json
import logging
import re

import pytest

from hierbandits.service.json_log import LOGGER, log_to, say


@pytest.fixture
def written():
    """What is logged in a test; other tests log as before."""
    loggers = [logging.getLogger(name) for name in ("hierbandits.service", "uvicorn.error")]
    before = [(one, list(one.handlers), one.level, one.propagate) for one in loggers]
    stream = io.StringIO()
    log_to(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    for one, handlers, level, propagate in before:
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


def test_a_line_is_one_object_with_its_parts(written):
    say("request", status=200, policy="a\nb", seconds=0.5)
    (line,) = written()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line == {
        "level": "info",
        "message": "request",
        "status": 200,
        "policy": "a\nb",
        "seconds": 0.5,
    }


def test_an_error_brings_its_trace_in_the_same_line(written):
    try:
        raise ValueError("what went wrong")
    except ValueError:
        LOGGER.exception("an error", extra={"parts": {"request_id": "r1"}})
    (line,) = written()
    assert (line["level"], line["request_id"]) == ("error", "r1")
    assert "Traceback" in line["error"]
    assert "what went wrong" in line["error"]


def test_what_is_no_json_is_written_as_text(written):
    say("odd", value=object, number=float("nan"))
    (line,) = written()
    assert line["value"] == "<class 'object'>"
    assert line["number"] is None


def test_the_server_logs_in_the_same_form_and_only_what_matters(written):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    logging.getLogger("uvicorn.error").debug("nobody needs this")
    assert [line["message"] for line in written()] == ["Invalid HTTP request received."]
