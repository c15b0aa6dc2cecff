"""Tables in Parquet files."""

from os import PathLike
from typing import Any

from hierbandits.atomic_write import atomic_write


def write_parquet(frame: Any, path: str | PathLike[str]) -> None:
    """Write a polars frame to a Parquet file, whole or not at all."""
    with atomic_write(path) as file:
        frame.write_parquet(file)
