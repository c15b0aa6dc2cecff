"""Names as people type them, turned into names as the columns of a log hold them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from hierbandits.types import Name


@overload
def names_as_in_log(log: str | Path, column: str | None, names: None) -> None: ...
@overload
def names_as_in_log(log: str | Path, column: str | None, names: Sequence[Name]) -> list[Name]: ...
def names_as_in_log(
    log: str | Path, column: str | None, names: Sequence[Name] | None
) -> list[Name] | None:
    """The names as integers if the column holds integers, and as strings otherwise.

    Without a column, the names as they are.
    """
    if names is None or column is None:
        return None if names is None else list(names)
    kind = _column_kinds(log).get(column)
    if kind is None or not kind.is_integer():
        return [str(name) for name in names]
    return [int(name) if str(name).removeprefix("-").isdecimal() else name for name in names]


def feature_columns(log: str | Path, columns: list[str] | None) -> str | list[str] | None:
    """The columns; but the bare name of a single column that holds lists of all features."""
    if columns is not None and len(columns) == 1:
        kind = _column_kinds(log).get(columns[0])
        if kind is not None and kind.is_nested():
            return columns[0]
    return columns


def _column_kinds(log: str | Path) -> Any:
    """The kind of the cells of each column."""
    from hierbandits.logs.sources import column_kinds, opened

    return column_kinds(opened(log)[0])
