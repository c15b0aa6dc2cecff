"""The small tables of batches: whole files in, and files out that are there whole or not at all."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierbandits.atomic_write import atomic_write
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.sources import is_dataset, opened

if TYPE_CHECKING:
    import polars as pl

_FORMS = (".parquet", ".csv")


def read_table(what: str, source: Any) -> "tuple[pl.DataFrame, bool]":
    """A table as a polars frame, and whether all its cells are text, as those of a CSV file are."""
    pl = polars_module()
    try:
        frame, is_text = opened(source)
        if is_dataset(frame):
            frame = frame.to_table()
        frame = frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    except (ValueError, OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(f"{what} could not be read: {error}") from error
    return frame, is_text


def column_of(what: str, frame: "pl.DataFrame", name: str) -> "pl.Series":
    """A column of a table, by name."""
    if name not in frame.columns:
        raise ValueError(f"{what} must be one of the columns {frame.columns!r:.200}, got {name!r}")
    return frame[name]


def check_place(out: Path) -> None:
    """Raise an error if a table could not be written there."""
    if out.suffix.lower() not in _FORMS:
        raise ValueError(f"out must end in {' or '.join(_FORMS)}, got {str(out)!r}")
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise ValueError(f"out must be in a folder that can be written to, got {str(out)!r}")
    if os.path.lexists(out) and not out.is_file():
        raise ValueError(f"out must be a file, got {str(out)!r}, which is something else")


def write_new_table(frame: "pl.DataFrame", out: Path) -> None:
    """Write a table to a file that is not there yet, all of it or nothing."""

    def check(target: Path) -> None:
        if target.exists():
            raise FileExistsError(f"out must be a new file, got {str(out)!r}, which has come since")

    with atomic_write(out, check) as file:
        if out.suffix.lower() == ".csv":
            frame.write_csv(file)
        else:
            frame.write_parquet(file)
