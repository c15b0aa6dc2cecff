"""Names as they are typed, and as the columns of a log have them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from hierbandits.types import Name


@overload
def spelt(log: str | Path, column: str | None, names: None) -> None: ...
@overload
def spelt(log: str | Path, column: str | None, names: Sequence[Name]) -> list[Name]: ...
def spelt(log: str | Path, column: str | None, names: Sequence[Name] | None) -> list[Name] | None:
    """These names as integers if the column has integers, and else as strings."""
    if names is None or column is None:
        return None if names is None else list(names)
    kind = _kinds(log).get(column)
    if kind is None or not kind.is_integer():
        return [str(name) for name in names]
    return [int(name) if str(name).lstrip("-").isdecimal() else name for name in names]


def listed(log: str | Path, columns: list[str] | None) -> str | list[str] | None:
    """A single column's name by itself if it has lists: it is all the features."""
    if columns is not None and len(columns) == 1:
        kind = _kinds(log).get(columns[0])
        if kind is not None and kind.is_nested():
            return columns[0]
    return columns


def _kinds(log: str | Path) -> Any:
    """The kind of the cells of each column."""
    from hierbandits.logs.sources import column_kinds, opened

    return column_kinds(opened(log)[0])
