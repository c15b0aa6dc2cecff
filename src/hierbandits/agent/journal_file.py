"""The file of a journal: one agent at a time appends whole lines to it."""

import os
from collections.abc import Callable
from pathlib import Path
from weakref import WeakSet, finalize

try:
    import fcntl
except ImportError:  # not on Windows: there nobody is kept from opening the file twice
    fcntl = None  # type: ignore[assignment]


class JournalFile:
    """A file that is open for appending, and locked against other agents until it is closed.

    `check_last` is told the last whole line, if there is one, and raises an error if the file is
    not to be written to.  What follows that line, torn by a crash, is cut off.
    """

    def __init__(self, path: Path, check_last: Callable[[bytes], None]) -> None:
        self._path = path
        self._is_torn = False  # whether a line may be there that was not written to its end
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self.close = finalize(self, os.close, self._file)
        try:
            _lock(self._file, path)
            last, self._size = _last_line(self._file)
            if last:
                check_last(last)
            os.ftruncate(self._file, self._size)
        except BaseException:
            self.close()
            raise
        _OPEN.add(self)

    def append(self, line: bytes) -> None:
        """Write a line; if that fails, the file is as it was."""
        if self._is_torn:
            self._cut()
        self._check_untouched()
        self._is_torn = True
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(f"journal must have room for an event, got none in {self._path}")
            self._size, self._is_torn = self._size + len(line), False
        except BaseException:
            if self._is_torn:
                self._cut()
            raise

    def _cut(self) -> None:
        """Take back a line of which the agent was not told that it is written."""
        os.ftruncate(self._file, self._size)
        self._is_torn = False

    def _check_untouched(self) -> None:
        """Raise an error if others have moved or changed the file."""
        own = os.fstat(self._file)
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            there = None
        if there is None or not os.path.samestat(own, there):
            raise ValueError(
                f"journal must stay where it was opened, got {str(self._path)!r}, which was moved, "
                "removed or replaced: save the agent, and load it with a new journal"
            )
        if own.st_size != self._size:
            raise ValueError(
                f"journal must be written by its agent alone, which left {self._size} bytes in "
                f"{str(self._path)!r}, got {own.st_size}"
            )


_OPEN: WeakSet[JournalFile] = WeakSet()


def _close_in_child() -> None:
    """Let a child not hold the locks of its parent's files for longer than the parent does."""
    for file in list(_OPEN):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


def _lock(file: int, path: Path) -> None:
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"journal must not be written by another agent, in this process or any other, got "
                f"{str(path)!r}, which one has open: end that agent first, or give a new file"
            ) from None


def _last_line(file: int) -> tuple[bytes, int]:
    """The last whole line of a file, and the size of the file up to its end."""
    end, tail = os.fstat(file).st_size, b""
    while tail.count(b"\n") < 2 and end > 0:
        start = max(0, end - (1 << 16))
        tail = os.pread(file, end - start, start) + tail
        end = start
    whole = tail[: tail.rfind(b"\n") + 1]
    return whole[whole.rfind(b"\n", 0, -1) + 1 :], end + len(whole)
