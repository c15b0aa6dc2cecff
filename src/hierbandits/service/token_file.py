"""Tokens in a file of a data folder."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hierbandits.atomic_write import atomic_write
from hierbandits.service.token_book import Mark


class TokenFile:
    """A `TokenPlace`: the file is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def mark(self) -> Mark:
        """When the file was made, and which one it is."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_ino

    def read(self) -> bytes:
        """All of it."""
        return self._path.read_bytes()

    @contextmanager
    def changing(self) -> Iterator[Callable[[bytes], object]]:
        """Change the file, one program at a time."""
        lock = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._replace
        finally:
            os.close(lock)

    def close(self) -> None:
        """Nothing is open."""

    def _replace(self, data: bytes) -> None:
        with atomic_write(self._path) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
