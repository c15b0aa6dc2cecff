"""The kinds of cells that a column has in several files, and the one kind that holds them all."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hierbandits.logs.polars_import import polars_module

if TYPE_CHECKING:
    import polars as pl


def joined_kinds(
    files: Sequence[str],
    kinds: "Sequence[Mapping[str, pl.DataType]]",
    names: Collection[str] | None = None,
) -> "dict[str, pl.DataType]":
    """The columns of any of these files, each with a kind that holds its cells in all of them.

    If it is in `names`, a column with numbers here and text there is refused, since 7 and "7" would
    become one.  Elsewhere it is text.  Without `names`, all columns count.
    """
    joined: dict[str, Any] = {}
    known: dict[str, str] = {}  # of each column, a file that told its kind
    for file, columns in zip(files, kinds, strict=True):
        for name, kind in columns.items():
            earlier = joined.get(name)
            if earlier is None or earlier == polars_module().Null:
                joined[name], known[name] = kind, file
                continue
            both = joined_kind(earlier, kind)
            if both is None and (names is None or name in names):
                raise ValueError(
                    f"column {name!r} must be of one kind in every file, got {earlier!s:.80} in "
                    f"{known[name]!r} and {kind!s:.80} in {file!r}"
                )
            joined[name] = polars_module().String() if both is None else both
    return joined


def joined_kind(one: Any, other: Any) -> Any:
    """The kind that holds the cells of both as they are meant; None if there is none."""
    pl = polars_module()
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    if _family(one) != _family(other):
        return None
    if _family(one) == "text":
        return pl.String()
    if _family(one) == "lists":
        inner = joined_kind(one.inner, other.inner)
        return None if inner is None else pl.List(inner)
    empty = [pl.DataFrame(schema={"cells": kind}) for kind in (one, other)]
    try:
        return pl.concat(empty, how="vertical_relaxed").schema["cells"]
    except pl.exceptions.PolarsError:  # times with a time zone and without
        return None


def _family(kind: Any) -> str:
    """What cells of a kind are, whatever their size or form: numbers, text, times, lists, ..."""
    pl = polars_module()
    if kind.is_numeric():
        return "numbers"
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if kind in (pl.Date, pl.Datetime):
        return "times"
    if kind in (pl.List, pl.Array):
        return "lists"
    return str(kind.base_type())
