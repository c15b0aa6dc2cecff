"""Text files of a row a line: which separator they have, and the names of their columns."""

import csv
import gzip
from collections import Counter
from functools import partial
from typing import IO, Any, cast

from hierbandits.logs.polars_import import polars_module


class UnreadableSource(ValueError):
    """A file that is damaged, or not of the form that it should have."""


SEPARATORS = (",", ";", "\t", "|")
"""Those that a header tells; the first of those that it has most."""

TEXT_ENDINGS = (".csv", ".tsv")
PACKINGS = ("", ".gz", ".zst")  # which polars unpacks as it reads


def is_text_file(path: str) -> bool:
    """Whether a file of this name is a text file, packed or not."""
    return path.lower().endswith(tuple(end + pack for end in TEXT_ENDINGS for pack in PACKINGS))


def opened_text(path: str, separator: str | None) -> Any:
    """A text file whose cells are all text.

    Columns of one name get their places added to it, so that nobody reads one of them by chance.
    """
    pl = polars_module()
    separator = separator_of(path) if separator is None else separator
    names = _header(path, separator)
    read = partial(pl.scan_csv, path, glob=False, infer_schema=False, separator=separator)
    often = Counter(names)
    if len(often) < len(names):
        own = [
            f"{name} (column {place})" if often[name] > 1 else name
            for place, name in enumerate(names, start=1)
        ]
        read = partial(read, new_columns=own)
    frame = read()
    try:
        frame.collect_schema()  # which is kept
    except pl.exceptions.PolarsError as error:
        raise UnreadableSource(f"source {path!r} could not be read: {error}") from error
    return frame


def separator_of(path: str) -> str:
    """The separator that a file's first line has most, outside quotes."""
    if path.lower().endswith(".zst"):  # which only polars unpacks
        return "\t" if ".tsv" in path.lower() else ","
    with open_bytes(path) as file:
        line = file.readline(1 << 20).decode("utf-8-sig", errors="replace")
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark), ())))


def open_bytes(path: str) -> IO[bytes]:
    """The bytes of a text file, unpacked if it is gzip."""
    return cast(IO[bytes], gzip.open(path)) if path.lower().endswith(".gz") else open(path, "rb")


def _header(path: str, separator: str) -> list[str]:
    """The cells of the first line."""
    pl = polars_module()
    read: Any = pl.scan_csv(
        path, glob=False, infer_schema=False, separator=separator, has_header=False, n_rows=1,
        truncate_ragged_lines=True,
    )  # fmt: skip
    try:
        first = next(read.collect().iter_rows(), ())
    except pl.exceptions.PolarsError as error:
        raise UnreadableSource(f"source {path!r} could not be read: {error}") from error
    return ["" if name is None else name for name in first]
