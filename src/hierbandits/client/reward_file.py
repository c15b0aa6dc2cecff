"""A file of rewards that wait to be sent: what was added is on the disk."""

import errno
import json
import os
import threading
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

from hierbandits.atomic_write import atomic_write

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is locked
    fcntl = None  # type: ignore[assignment]

Reward: TypeAlias = tuple[str, float]
FORMAT = "hierbandits rewards 1"
MOST_SETTLED = 10_000
"""Settled rewards that the file may hold before it is written anew without them."""


class RewardFile:
    """Rewards of one policy, in lines with checksums: `add` returns when its line is on the disk.

    Lines that several threads add at once go to the disk together.  A last line that a crash has
    torn was never added, and is cut off.  Any other damage is an error: nothing is skipped.
    """

    def __init__(self, path: str | PathLike[str], policy: str) -> None:
        self._path, self._policy = Path(path).absolute(), policy
        self._alone = _locked(self._path)
        self._turn = threading.Condition()
        self._rows: list[Reward] = []  # on the disk and not settled
        self._new: list[Reward] = []  # to be written
        self._added = self._written = 0  # counts of rewards that came, and that were dealt with
        self._failures: dict[int, OSError] = {}  # by the count at which a write began
        self._is_writing = self._is_closed = False
        self._settled = 0  # rewards in the file that need not be sent
        try:
            self._open()
        except BaseException:
            os.close(self._alone)
            raise

    def _open(self) -> None:
        if not self._path.exists():
            self._rewrite()
        else:
            length = self._read()
            self._file = os.open(self._path, os.O_RDWR)
            self._length = length
            self._cut()

    def _read(self) -> int:
        """Take in what the file holds; returns the length of its sound part."""
        data = self._path.read_bytes()
        lines = data.split(b"\n")
        torn = lines.pop()  # no line break after it: its writing was cut off
        if _parts(torn[:-1]) is not None:  # or it was whole, and its line break has changed
            raise ValueError(f"{self._path} is damaged at line {len(lines) + 1}")
        data = data[: len(data) - len(torn)]
        if not lines:
            raise ValueError(f"{self._path} is not a file of rewards")
        rows: list[Reward] = []
        for number, line in enumerate(lines, 1):
            parts = _parts(line)
            if number == 1:
                if parts is None or parts[:2] != ["policy", FORMAT]:
                    raise ValueError(f"{self._path} is not a file of rewards")
                if parts[2] != self._policy:
                    raise ValueError(
                        f"policy must be that of {self._path}, {parts[2]!r}, got {self._policy!r}"
                    )
            elif parts is None:
                raise ValueError(f"{self._path} is damaged at line {number}")
            elif parts[0] == "reward":
                rows.append((parts[1], parts[2]))
            else:
                self._settled = int(parts[1])
        self._rows = rows[self._settled :]
        return len(data)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, reward: Reward) -> None:
        """Keep a reward; it is on the disk when this returns."""
        with self._turn:
            if self._is_closed:
                raise ValueError("the buffer is closed")
            self._new.append(reward)
            self._added += 1
            place = self._added
            while self._written < place:
                if self._is_writing:
                    self._turn.wait()
                else:
                    self._write_new()
            error = self._failures.pop(place, None)
        if error is not None:
            raise OSError(error.errno, f"the reward of {reward[0]!r} is not kept: {error.strerror}")

    def _write_new(self) -> None:
        """Write all that waits, without the lock meanwhile; the lock is held around this."""
        rows, self._new = self._new, []
        self._is_writing = True
        self._turn.release()
        error: OSError | None = OSError(errno.EINTR, "interrupted")
        try:
            self._write_after([["reward", *row] for row in rows], forced=True)
            error = None
        except OSError as failed:
            error = failed
        finally:
            self._turn.acquire()
            self._is_writing = False
            places = range(self._written + 1, self._written + len(rows) + 1)
            self._written += len(rows)
            if error is None:
                self._rows += rows
            else:
                self._failures |= dict.fromkeys(places, error)
            self._turn.notify_all()

    def first(self, most: int) -> list[Reward]:
        """Some rewards that are to be sent, the oldest first."""
        with self._turn:
            return self._rows[:most]

    def settle(self, number: int) -> None:
        """The oldest rewards, this many, need not be sent any more."""
        with self._turn:
            while self._is_writing:
                self._turn.wait()
            del self._rows[:number]
            self._settled += number
            if self._settled >= MOST_SETTLED or not self._rows:
                old = self._file
                self._rewrite()
                os.close(old)
            else:  # if this is lost in a crash, rewards are sent twice, which does no harm
                self._write_after([["settled", self._settled]], forced=False)

    def _write_after(self, rows: Sequence[Sequence[Any]], *, forced: bool) -> None:
        """Add lines at the end; what a write that failed has left there is cut off before."""
        data = b"".join([_line(row) for row in rows])
        if os.fstat(self._file).st_size != self._length:
            self._cut()
        if os.write(self._file, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if forced:
            os.fsync(self._file)
        self._length += len(data)

    def _cut(self) -> None:
        """Leave the sound part of the file, and write after it."""
        os.ftruncate(self._file, self._length)
        os.lseek(self._file, self._length, os.SEEK_SET)

    def _rewrite(self) -> None:
        """A new file with what is to be sent alone, in place of the old one."""
        first = _line(["policy", FORMAT, self._policy])
        data = b"".join([first, *(_line(["reward", *row]) for row in self._rows)])
        with atomic_write(self._path) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
        self._file, self._length, self._settled = os.open(self._path, os.O_RDWR), len(data), 0
        os.lseek(self._file, self._length, os.SEEK_SET)

    def close(self) -> None:
        """Let the file go; what was not settled stays in it."""
        with self._turn:
            while self._is_writing:
                self._turn.wait()
            if not self._is_closed:
                self._is_closed = True
                os.close(self._file)
                os.close(self._alone)


def _line(parts: Sequence[Any]) -> bytes:
    text = json.dumps(parts, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _parts(line: bytes) -> list[Any] | None:
    """What a line says; None if it is not as it was written."""
    mark, _, text = line.partition(b" ")
    if mark != b"%08x" % crc32(text):
        return None
    parts: list[Any] = json.loads(text)
    return parts


def _locked(path: Path) -> int:
    """Keep other processes away from a file; it may be replaced, so the lock has its own."""
    number = os.open(path.with_name(f"{path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    if fcntl is not None:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(number)
            raise RuntimeError(f"{path} must not be in use, but another buffer has it") from None
    return number
