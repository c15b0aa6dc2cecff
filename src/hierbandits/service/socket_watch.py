"""Ends connections whose answer does not come: a socket that is blocked would hold a thread."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

_TICK = 0.25  # seconds between looks


class HasSocket(Protocol):
    """A connection."""

    def fileno(self) -> int:
        """The number of its socket."""


class SocketWatch:
    """`with watch.limit(connection, seconds):` what waits on the connection fails after that."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._wake = threading.Event()
        self._ends: dict[object, tuple[int, float]] = {}  # socket, and until when it may wait
        self._thread = threading.Thread(target=self._run, name="socket watch", daemon=True)
        self._thread.start()

    @contextmanager
    def limit(self, connection: HasSocket, seconds: float) -> Iterator[None]:
        """What happens in the block has this long."""
        key, number = object(), connection.fileno()
        with self._turn:
            self._ends[key] = number, monotonic() + seconds
        try:
            yield
        finally:
            with self._turn:
                del self._ends[key]

    def _run(self) -> None:
        while not self._wake.wait(_TICK):
            now = monotonic()
            with self._turn:  # or the number might be another socket's by now
                for number, end in self._ends.values():
                    if now > end:
                        _shut(number)

    def close(self) -> None:
        """Watch no more."""
        self._wake.set()
        self._thread.join()


def _shut(number: int) -> None:
    """Let whoever waits on a socket find it closed; its number stays taken."""
    try:
        with socket.socket(fileno=os.dup(number)) as copy:
            copy.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
