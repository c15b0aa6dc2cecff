"""What became of a request that was sent: an answer, or none."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import TypeVar

from hierbandits.client.client_errors import Unavailable, error_of
from hierbandits.client.client_replies import not_understood
from hierbandits.client.client_request import ClientRequest

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer; or, without a status, why there is none and whether the service may have heard."""

    status: int | None
    content: bytes = b""
    retry_after: float | None = None
    request_id: str | None = None
    trouble: str = ""
    was_sent: bool = True

    @classmethod
    def answer(cls, status: int, headers: Mapping[str, str], content: bytes) -> "Outcome":
        """What the service answered."""
        wait = _seconds(headers.get("retry-after"))
        return cls(status, content, wait, headers.get("x-request-id"))

    @classmethod
    def silence(cls, error: Exception, url: str) -> "Outcome":
        """No answer, because of an error of httpx."""
        import httpx

        kinds = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        text = str(error) or type(error).__name__
        was_sent = not isinstance(error, kinds)
        return cls(None, trouble=f"no answer from {url}: {text}", was_sent=was_sent)

    def value(self, request: ClientRequest[T]) -> T:
        """What the request asked for; raises the error that was answered in its place."""
        if self.status is None:
            raise Unavailable(self.trouble)
        if request.reads_bytes and self.status == 200:
            return request.read(self.content)
        try:
            reply = json.loads(self.content) if self.content else None
        except (ValueError, RecursionError):
            reply = self.content[:80].decode(errors="replace")
        if 200 <= self.status < 300:
            try:
                return request.read(reply)
            except (TypeError, KeyError, AttributeError):
                raise not_understood(reply) from None
        parts = reply if isinstance(reply, dict) else {}
        raise error_of(self.status, parts, self.request_id)


def _seconds(text: str | None) -> float | None:
    """What Retry-After says: seconds, or a date."""
    if text is None:
        return None
    if text.isdecimal():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time(), 0.0)
    except ValueError:
        return None
