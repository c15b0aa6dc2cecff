"""Text files that cannot be read: which lines are at fault."""

import csv
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from hierbandits.logs.problem import SHOWN_ROWS, Problem
from hierbandits.logs.reading import Reading
from hierbandits.logs.text_file import is_text_file, open_bytes, separator_of

EFFECT = "The log cannot be read."


def broken_text(source: Any, reading: Reading, error: Exception) -> Problem:
    """What is wrong with a source that could not be read, with rows if it is a text file."""
    unknown = Problem(
        stops=True, column=None, finding=" ".join(str(error).split()), effect=EFFECT,
        remedy="Write the file anew.",
    )  # fmt: skip
    if not isinstance(source, str | PathLike) or not Path(source).is_file():
        return unknown
    path = str(source)
    if not is_text_file(path) or path.lower().endswith(".zst"):
        return unknown
    try:
        return _bad_letters(path) or _bad_rows(path, reading.separator) or unknown
    except (OSError, EOFError, csv.Error, UnicodeDecodeError):
        return unknown


def _bad_letters(path: str) -> Problem | None:
    """Lines that are not UTF-8."""
    lines: list[int] = []
    count = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                count += 1
                lines += [number] if len(lines) < SHOWN_ROWS else []
    if not count:
        return None
    shown = ", ".join(f"{number:,}" for number in lines)
    return Problem(
        stops=True, column=None, count=count,
        finding=f"{count:,} lines are not UTF-8: the file's lines {shown}, counted from 1",
        effect=EFFECT,
        remedy="Save the file as UTF-8: iconv -f latin1 -t utf-8 OLD > NEW, say.",
    )  # fmt: skip


def _bad_rows(path: str, separator: str | None) -> Problem | None:
    """Rows that have more cells than the header."""
    rows: list[int] = []
    count = 0
    separator = separator_of(path) if separator is None else separator
    with open_bytes(path) as file:
        cells = csv.reader((line.decode() for line in file), delimiter=separator)
        width = len(next(cells, []))
        for row, length in enumerate(_lengths(cells)):
            if length > width:
                count += 1
                rows += [row] if len(rows) < SHOWN_ROWS else []
    if not count:
        return None
    return Problem(
        stops=True, column=None, count=count, rows=tuple(rows),
        finding=f"{count:,} rows have more cells than the header's {width}",
        effect=EFFECT, remedy=f"Put quotes around cells that hold a {separator!r}.",
    )  # fmt: skip


def _lengths(cells: Iterator[list[str]]) -> Iterator[int]:
    """How many cells each row has; empty lines are no rows."""
    return (len(row) for row in cells if row)
