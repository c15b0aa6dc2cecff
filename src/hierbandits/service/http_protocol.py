"""A connection that bounds what comes before a body: the head of a request."""

from asyncio import TimerHandle, Transport
from http import HTTPStatus
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hierbandits.service.api_problem import Problem

MOST_HEAD = 64 << 10
"""Bytes of a head: its first line and its headers."""
PATIENCE = 10.0
"""Seconds within which a head must have come."""
_END = b"\r\n\r\n"


class HttpProtocol(HttpToolsProtocol):
    """Refuses heads that are too large (431), too slow (408) or no HTTP at all (400)."""

    most_head, patience = MOST_HEAD, PATIENCE
    _in_head = False
    _head_bytes, _head_end = 0, b""
    _timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Somebody has come, and must say something soon."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.patience, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the head is too large."""
        if self.transport.is_closing():
            return
        if self._in_head or (len(data) > self.most_head and self.cycle is None):
            before = self._head_end if self._in_head else b""
            end = (before + data).find(_END)
            size = len(data) if end < 0 else end - len(before)  # of what is still head
            if (self._head_bytes if self._in_head else 0) + size > self.most_head:
                self._refuse(431, "head_too_large", self._too_large())
                return
        super().data_received(data)
        if self._in_head:
            self._head_bytes, self._head_end = self._head_bytes + len(data), data[-len(_END) + 1 :]
            if self._head_bytes > self.most_head:
                self._refuse(431, "head_too_large", self._too_large())
            elif self._timer is None:
                self._timer = self.loop.call_later(self.patience, self._give_up)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head has come."""
        self._in_head = False
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the form of all other problems."""
        self._in_head = False
        self._stop_timer()
        self._refuse(400, "bad_request", "the request must be HTTP/1.1")

    def _give_up(self) -> None:
        self._timer = None
        self._refuse(408, "timeout", "the head of the request must come sooner")

    def _too_large(self) -> str:
        return f"the head of the request must have at most {self.most_head} bytes"

    def _refuse(self, status: int, code: str, detail: str) -> None:
        self._in_head = False
        if self.transport.is_closing():
            return
        content: Any = msgspec.json.encode(Problem(status, code, detail).to_dict())
        self.transport.write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            "content-type: application/problem+json\r\nconnection: close\r\n"
            f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
