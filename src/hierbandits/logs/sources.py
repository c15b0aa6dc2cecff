"""Where logs come from: frames of polars, pandas and Arrow, Parquet and CSV files."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

OLDEST_POLARS = (1, 37)  # earlier versions read a file that fails halfway as a shorter file


def polars_module() -> Any:
    """polars, if it is there and new enough."""
    try:
        import polars as pl
    except ImportError:
        raise ImportError("logs need polars: pip install 'hierbandits[data]'") from None
    if tuple(int(part) for part in pl.__version__.split(".")[:2]) < OLDEST_POLARS:
        oldest = ".".join(str(part) for part in OLDEST_POLARS)
        raise ImportError(f"logs need polars {oldest} or later, got {pl.__version__}")
    return pl


def opened(source: Any) -> tuple[Any, bool]:
    """Open a source: a frame to read in batches, and whether all its cells are text."""
    pl = polars_module()
    if isinstance(source, str | Path):
        path, is_file = str(source), Path(source).is_file()
        if not is_file and not any(sign in path for sign in "*?["):
            raise FileNotFoundError(f"source must be a file, got {path!r}")
        if path.lower().endswith(".parquet"):
            return pl.scan_parquet(path, glob=not is_file), False
        if path.lower().endswith(".csv"):
            return _opened_csv(path, glob=not is_file), True
        raise ValueError(f"source must end in .parquet or .csv, got {path!r}")
    if isinstance(source, pl.DataFrame | pl.LazyFrame) or _is_a(source, "pandas", "DataFrame"):
        return source, False
    if _is_a(source, "pyarrow", "Table"):
        return pl.from_arrow(source), False
    raise ValueError(f"source must be a frame or the path of a file, got {source!r:.80}")


def _opened_csv(path: str, *, glob: bool) -> Any:
    """A CSV file, or all files that a pattern names.

    Columns of one name get their places added to it, so that nobody reads one of them by chance.
    """
    pl = polars_module()
    read = partial(pl.scan_csv, path, glob=glob, infer_schema=False)
    try:
        first = next(read(has_header=False, n_rows=1).collect().iter_rows(), ())
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"source could not be read: {error}") from error
    names = ["" if name is None else name for name in first]
    if len(set(names)) == len(names):
        return read()
    often = Counter(names)
    return read(
        new_columns=[
            f"{name} (column {place})" if often[name] > 1 else name
            for place, name in enumerate(names, start=1)
        ]
    )


def column_names(source: Any) -> list[str]:
    """The names of the columns of a source that `opened` gave; a damaged file is refused."""
    pl = polars_module()
    if not isinstance(source, pl.LazyFrame):
        return list(source.columns)
    return list(column_kinds(source))


def column_kinds(source: "pl.LazyFrame") -> "Mapping[str, pl.DataType]":
    """The columns of a file that `opened` gave, and the kind of their cells."""
    try:
        return source.collect_schema()
    except polars_module().exceptions.PolarsError as error:
        raise ValueError(f"source could not be read: {error}") from error


def _is_a(source: Any, module: str, kind: str) -> bool:
    """Whether a source is of this class; its module may not be installed."""
    return module in sys.modules and isinstance(source, getattr(sys.modules[module], kind))


def frames(source: Any, names: list[str], rows: int) -> "Iterator[pl.DataFrame]":
    """Read these columns of a source, some rows at a time and in order."""
    pl = polars_module()
    if isinstance(source, pl.DataFrame):
        yield from source.select(names).iter_slices(rows)
    elif isinstance(source, pl.LazyFrame):
        try:
            lazy = source.select(names)
            yield from lazy.collect_batches(chunk_size=rows, maintain_order=True)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"source could not be read: {error}") from error
    else:
        for start in range(0, len(source), rows):
            part = source.iloc[start : start + rows]
            yield pl.DataFrame([_from_pandas(name, part[name], start) for name in names])


def _from_pandas(name: str, column: Any, start: int) -> Any:
    """One column without the help of Arrow, which pandas may lack."""
    pl, values = polars_module(), column.to_numpy()
    if values.dtype.kind in "biufM":
        return pl.Series(name, values)
    cells = [None if _is_missing(cell) else cell for cell in values]
    try:
        return pl.Series(name, cells, strict=True)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        kinds = [type(cell) for cell in cells]
        known = next(kind for kind in kinds if kind is not type(None))
        odd = [i for i, kind in enumerate(kinds) if kind not in (known, type(None))] or [0]
        raise ValueError(
            f"cells of a column must be of one kind, got {cells[odd[0]]!r:.80} after a "
            f"{known.__name__} in column {name!r} at row {start + odd[0]}"
        ) from None


def _is_missing(cell: Any) -> bool:
    return (
        cell is None
        or type(cell).__name__ in ("NAType", "NaTType")
        or (isinstance(cell, float) and cell != cell)
    )
