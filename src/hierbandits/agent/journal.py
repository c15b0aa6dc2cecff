"""A journal: every event of an agent as plain data, written before it happens."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from hierbandits.agent.journal_file import JournalFile

Event: TypeAlias = dict[str, Any]
JournalTarget: TypeAlias = str | PathLike[str] | Callable[[Event], object]

VERSION = 1
LONGEST_HISTORY = 100
"""The most characters of what tells an agent's events from those of others."""


class Journal:
    """Receives the events of one agent: a function of yours, or a file of JSON lines.

    A file is opened at the first event, and no other agent can write to it from then on until this
    agent ends.  A file that others have moved or changed is refused.  Each event is in the file,
    though perhaps not yet on the disk, before the agent acts on it.  A last line that a crash has
    torn is cut off first.
    """

    def __init__(self, target: JournalTarget) -> None:
        if not callable(target) and not isinstance(target, str | PathLike):
            raise ValueError(f"journal must be a path or a function, got {target!r:.80}")
        # A path is that of today, wherever the process goes before the first event.
        self._target = target if callable(target) else Path(target).absolute()
        self._file: JournalFile | None = None
        self._process = os.getpid()

    def write(
        self,
        history: str,
        number: int,
        kind: str,
        time: float,
        parts: Mapping[str, Any],
        written: list[object],
    ) -> None:
        """Write one event of a history; if that fails, the file is as it was.

        The answer goes to `written`, though an interrupt may come with it: between the writing and
        the answer no Python code runs.
        """
        event = {"version": VERSION, "history": history, "number": number, "kind": kind}
        event |= {"time": time, **parts}
        target = self._target
        write = target if callable(target) else partial(self._write_line, target)
        written.extend(map(write, (event,)))

    def _write_line(self, path: Path, event: Event) -> None:
        if self._process != os.getpid():
            raise RuntimeError(
                f"journal must be written by the process that opened it, {self._process}, got "
                f"{os.getpid()}, a child: load an agent there, with a journal of its own"
            )
        line = json.dumps(event, allow_nan=False).encode() + b"\n"
        if self._file is None:
            self._file = JournalFile(path, partial(_check_end, path, event))
        self._file.append(line)


def _check_end(path: Path, event: Event, last: bytes) -> None:
    """Raise an error unless an event comes right after the last line of a file."""
    written, number = _event(last, f"{path}, last line"), event["number"]
    if written["number"] + 1 != number:
        raise ValueError(
            f"journal must end where the agent stands, before event {number}, got {str(path)!r}, "
            f"which ends with event {written['number']}: replay it, or give a new file"
        )
    if written["history"] != event["history"]:
        raise ValueError(
            f"journal must be of the agent that writes it, whose history is {event['history']}, "
            f"got {str(path)!r} of {written['history']}: give a new file"
        )


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
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{where} is not an event of a journal: {error}") from error


def _checked_event(event: Any, where: str) -> Event:
    if not isinstance(event, dict) or type(event.get("number")) is not int or event["number"] < 0:
        raise ValueError(f"{where} is not an event of a journal, got {event!r:.80}")
    if event.get("version") != VERSION:
        raise ValueError(
            f"{where} must have the version {VERSION}, got {event.get('version')!r:.80}"
        )
    history = event.get("history")
    if not isinstance(history, str) or not 0 < len(history) <= LONGEST_HISTORY:
        raise ValueError(f"{where} must say whose history it is part of, got {event!r:.80}")
    return event
