"""Parquet files on this machine, as one frame of all their rows."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierbandits.logs.file_kinds import joined_kinds
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.text_file import UnreadableSource

if TYPE_CHECKING:
    import polars as pl


def opened_parquet(paths: Sequence[str], names: Collection[str] | None = None) -> "pl.LazyFrame":
    """The rows of these files in order, with the columns of any.

    `names` are the columns that will be read, which must be of one kind in every file.  Those that
    folders name (store=7/) are text if any of these folders has no number there.
    """
    frames = [_opened(path) for path in paths]
    kinds: list[dict[str, Any]] = [dict(frame.collect_schema()) for frame in frames]
    in_folders = [
        {name: own[name] for name in folder_columns(path)}
        for path, own in zip(paths, kinds, strict=True)
    ]
    of_folders = joined_kinds(paths, in_folders, names=())
    for own, folders in zip(kinds, in_folders, strict=True):
        own.update((name, of_folders[name]) for name in folders)
    return _together(paths, frames, joined_kinds(paths, kinds, names))


def some_parquet(paths: Sequence[str], kinds: "Mapping[str, pl.DataType]") -> "pl.LazyFrame":
    """The rows of some files of a log, with all its columns and their kinds."""
    empty = polars_module().LazyFrame(schema=kinds)
    some = _together(paths, [_opened(path) for path in paths], kinds)
    frame: pl.LazyFrame = polars_module().concat([empty, some], how="diagonal")
    return frame


def folder_columns(path: str) -> list[str]:
    """The columns that a file's folders name."""
    parts = [part.split("=") for part in Path(path).parent.parts]
    return [part[0] for part in parts if len(part) == 2]


def _opened(path: str, kinds: "Mapping[str, pl.DataType] | None" = None) -> "pl.LazyFrame":
    """One file; with `kinds`, its folders' columns are of these."""
    module, folders = polars_module(), folder_columns(path)
    frame: pl.LazyFrame = module.scan_parquet(
        path,
        glob=False,
        hive_partitioning=bool(folders),
        hive_schema={name: kinds[name] for name in folders} if kinds and folders else None,
    )
    try:
        frame.collect_schema()  # which is kept
    except module.exceptions.PolarsError as error:
        raise UnreadableSource(f"source {path!r} could not be read: {error}") from error
    return frame


def _together(
    paths: Sequence[str], frames: "Sequence[pl.LazyFrame]", kinds: "Mapping[str, pl.DataType]"
) -> "pl.LazyFrame":
    """Files one after the other, each column of one kind."""
    parts = [_fitted(path, frame, kinds) for path, frame in zip(paths, frames, strict=True)]
    together: pl.LazyFrame = polars_module().concat(parts, how="diagonal")
    return parts[0] if len(parts) == 1 else together


def _fitted(path: str, frame: "pl.LazyFrame", kinds: "Mapping[str, pl.DataType]") -> "pl.LazyFrame":
    """A file with its columns as these kinds."""
    own = frame.collect_schema()
    if any(own[name] != kinds[name] for name in folder_columns(path)):
        frame = _opened(path, kinds)  # a folder's name is text as it is written, 007 say
        own = frame.collect_schema()
    column = polars_module().col
    other = [column(name).cast(kinds[name]) for name in own if own[name] != kinds[name]]
    return frame.with_columns(other) if other else frame
