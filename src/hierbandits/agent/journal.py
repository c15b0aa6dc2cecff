"""A journal: every event of an agent as plain data, written before it happens."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias
from weakref import finalize

Event: TypeAlias = dict[str, Any]
JournalTarget: TypeAlias = str | PathLike[str] | Callable[[Event], object]

VERSION = 1


class Journal:
    """Receives the events of one agent: a function of yours, or a file of JSON lines.

    A file is opened at the first event.  Each event is in the file, though perhaps not yet on the
    disk, before the agent acts on it.  A last line that a crash has torn is cut off first.
    """

    def __init__(self, target: JournalTarget) -> None:
        if not callable(target) and not isinstance(target, str | PathLike):
            raise ValueError(f"journal must be a path or a function, got {target!r:.80}")
        # A path is that of today, wherever the process goes before the first event.
        self._target = target if callable(target) else Path(target).absolute()
        self._file: int | None = None  # its descriptor
        self._is_writing = False
        self._process = os.getpid()

    def write(self, number: int, kind: str, time: float, parts: Mapping[str, Any]) -> None:
        """Write one event; if that fails, the file is as it was."""
        if self._is_writing:
            raise RuntimeError("journal must not change the agent whose event it is writing")
        event = {"version": VERSION, "number": number, "kind": kind, "time": time, **parts}
        self._is_writing = True
        try:
            if callable(self._target):
                self._target(event)
            else:
                self._write_line(self._target, event)
        finally:
            self._is_writing = False

    def _write_line(self, path: Path, event: Event) -> None:
        if self._process != os.getpid():
            raise RuntimeError(
                f"journal must be written by the process that opened it, {self._process}, got "
                f"{os.getpid()}, a child: load an agent there, with a journal of its own"
            )
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        if self._file is None:
            self._file = _opened(path, event["number"])
            finalize(self, os.close, self._file)
        size = os.fstat(self._file).st_size
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(f"journal must have room for an event, got none in {path}")
        except BaseException:
            os.ftruncate(self._file, size)
            raise


def _opened(path: Path, number: int) -> int:
    """A journal's file, to append event `number` to: the one after its last."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        last, size = _last_line(file)
        if last:
            written = _event(last, f"{path}, last line")["number"]
            if written + 1 != number:
                raise ValueError(
                    f"journal must end where the agent stands, before event {number}, got "
                    f"{str(path)!r}, which ends with event {written}: replay it, or give a new file"
                )
        os.ftruncate(file, size)
    except BaseException:
        os.close(file)
        raise
    return file


def _last_line(file: int) -> tuple[bytes, int]:
    """The last whole line of a file, and the size of the file up to its end."""
    end, tail = os.fstat(file).st_size, b""
    while tail.count(b"\n") < 2 and end > 0:
        start = max(0, end - (1 << 16))
        tail = os.pread(file, end - start, start) + tail
        end = start
    whole = tail[: tail.rfind(b"\n") + 1]
    return whole[whole.rfind(b"\n", 0, -1) + 1 :], end + len(whole)


def events_of(source: str | PathLike[str] | Iterable[Event]) -> Iterator[Event]:
    """The events of a journal, a file's or any others, checked to be events of this version."""
    if isinstance(source, str | PathLike):
        yield from _events_in(Path(source))
    elif isinstance(source, Iterable):
        for place, event in enumerate(source):
            yield _checked_event(event, f"event {place}")
    else:
        raise ValueError(f"source must be a journal's path, events or a Log, got {source!r:.80}")


def _events_in(path: Path) -> Iterator[Event]:
    with open(path, "rb") as lines:
        for place, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):  # else it is the last, torn by a crash: it never happened
                yield _event(line, f"{path}, line {place}")


def _event(line: bytes, where: str) -> Event:
    try:
        return _checked_event(json.loads(line), where)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{where} is not an event of a journal: {error}") from error


def _checked_event(event: Any, where: str) -> Event:
    if not isinstance(event, dict) or not isinstance(event.get("number"), int):
        raise ValueError(f"{where} is not an event of a journal, got {event!r:.80}")
    if event.get("version") != VERSION:
        raise ValueError(
            f"{where} must have the version {VERSION}, got {event.get('version')!r:.80}"
        )
    return event
