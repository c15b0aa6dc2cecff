"""Names as people type them, turned into names as the columns of a log hold them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from hierbandits.types import Name

if TYPE_CHECKING:
    from hierbandits import Reading


@overload
def names_as_in_log(
    log: Any, column: str | None, names: None, reading: "Reading | None" = None
) -> None: ...
@overload
def names_as_in_log(
    log: Any, column: str | None, names: Sequence[Name], reading: "Reading | None" = None
) -> list[Name]: ...
def names_as_in_log(
    log: Any, column: str | None, names: Sequence[Name] | None, reading: "Reading | None" = None
) -> list[Name] | None:
    """The names as integers if the column holds integers, and as strings otherwise.

    Without a column, the names as they are.
    """
    if names is None or column is None:
        return None if names is None else list(names)
    kind = _column_kinds(log, reading).get(column)
    if kind is None or not kind.is_integer():
        return [str(name) for name in names]
    return [int(name) if str(name).removeprefix("-").isdecimal() else name for name in names]


def feature_columns(
    log: Any, columns: list[str] | None, reading: "Reading | None" = None
) -> str | list[str] | None:
    """The columns; but the bare name of a single column that holds lists of all features.

    Several may be given as one text with commas between them.
    """
    if columns is None:
        return None
    kinds = _column_kinds(log, reading)
    if len(columns) == 1 and columns[0] in kinds and kinds[columns[0]].is_nested():
        return columns[0]
    parts = [[name] if name in kinds else name.split(",") for name in columns]
    return [name.strip() for part in parts for name in part]


def _column_kinds(log: Any, reading: "Reading | None") -> Any:
    """The kind of the cells of each column."""
    from hierbandits.logs.reading import AS_IT_IS
    from hierbandits.logs.sources import column_kinds, opened

    return column_kinds(opened(log, reading or AS_IT_IS, names=())[0])
