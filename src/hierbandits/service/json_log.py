"""Logs of the service: one JSON object a line, and nothing secret in them."""

import logging
import sys
import time
from typing import IO, Any

import msgspec

LOGGER = logging.getLogger("hierbandits.service")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON; what was passed as `extra={"parts": {...}}` is part of it."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= getattr(record, "parts", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def log_to(stream: IO[str] = sys.stderr, level: int = logging.INFO) -> None:
    """Write the service's log lines to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    for name in ("hierbandits.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False


def say(message: str, level: int = logging.INFO, **parts: Any) -> None:
    """Write one line."""
    LOGGER.log(level, message, extra={"parts": parts})
