"""Where logs come from: frames of polars, pandas and Arrow, plain columns, files."""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from glob import glob
from os import PathLike
from os import path as os_path
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hierbandits.logs.parquet_files import opened_parquet, some_parquet
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.reading import AS_IT_IS, Reading
from hierbandits.logs.remote_files import is_remote, opened_remote, remote_files
from hierbandits.logs.text_file import UnreadableSource, is_text_file, opened_text

if TYPE_CHECKING:
    import polars as pl


def opened(
    source: Any, reading: Reading = AS_IT_IS, names: Collection[str] | None = None
) -> tuple[Any, bool]:
    """Open a source: a frame to read in batches, and whether all its cells are text.

    `names` are the columns that will be read, all of them by default: those of Parquet files must
    be of one kind in every file.
    """
    pl = polars_module()
    if files := files_of(source):
        return _opened_files(files, reading, names)
    if isinstance(source, pl.DataFrame | pl.LazyFrame) or _is_a(source, "pandas", "DataFrame"):
        return source, False
    if is_dataset(source):
        return source, False
    is_list = isinstance(source, list | tuple) and len(source) > 0
    if is_list and all(isinstance(row, Mapping) for row in source):
        return _table({name: [row.get(name) for row in source] for name in _keys(source)}), False
    if isinstance(source, Mapping):
        return _table(source), False
    if isinstance(source, np.ndarray) and source.dtype.names is not None:
        return _table({name: source[name] for name in source.dtype.names}), False
    if hasattr(source, "__arrow_c_stream__") or _is_a(source, "pyarrow", "RecordBatch"):
        return pl.DataFrame(source), False
    raise ValueError(
        "source must be a frame, a mapping of columns, a list of rows, or the path of a file, "
        f"got {source!r:.80}"
    )


def files_of(source: Any) -> list[str]:
    """The files that a source names: by a path, a folder, a pattern or several; of a frame none."""
    paths = [source] if isinstance(source, str | PathLike) else source
    if not isinstance(paths, list | tuple):
        return []
    if not all(isinstance(path, str | PathLike) for path in paths):
        return []
    known: dict[str, tuple[str, Any]] = {}  # how it is named, and by what
    for path in paths:
        for file in _files(path):
            if (place := _place(file)) in known:
                earlier, its_path = known[place]
                raise ValueError(
                    f"source must name each file once, got {earlier!r} (by {str(its_path)!r}) and "
                    f"{file!r} (by {str(path)!r}), which are one file"
                )
            known[place] = file, path
    return [file for file, _ in known.values()]


def _files(source: "str | PathLike[str]") -> list[str]:
    """A file; the files of a folder, or those that a pattern names, in the order of their names."""
    if not str(source):
        raise ValueError(f"source must be the path of a file or a folder, got {source!r}")
    if is_remote(source):
        return remote_files(str(source))
    path = Path(source)
    if path.is_file():
        return [str(source)]
    if path.is_dir():
        inside = (file for file in path.rglob("*") if file.is_file())
        found = [str(file) for file in inside if not file.name.startswith((".", "_"))]
        found = [file for file in found if _is_known(file)]
    else:
        found = [file for file in glob(str(source), recursive=True) if Path(file).is_file()]
    if not found:
        what = "a folder of .parquet or .csv files" if path.is_dir() else "a file"
        raise FileNotFoundError(f"source must be {what}, got {str(source)!r}")
    return sorted(set(found))


def _place(file: str) -> str:
    """Where a file is, whatever it is called."""
    here = file.removeprefix("file://")
    return file if is_remote(here) else os_path.realpath(here)


def _is_known(path: str) -> bool:
    return path.lower().endswith(".parquet") or is_text_file(path)


def _opened_files(
    paths: list[str], reading: Reading, names: Collection[str] | None
) -> tuple[Any, bool]:
    """One file, or many one after the other; each has its columns in an order of its own."""
    pl = polars_module()
    if any(is_remote(path) for path in paths):
        return opened_remote(paths, names), False
    for path in paths:
        if not _is_known(path):
            raise ValueError(
                "source must end in .parquet or .csv (.tsv, .csv.gz and .csv.zst are read too), "
                f"got {path!r}"
            )
    is_text = is_text_file(paths[0])
    for path in paths:
        if is_text_file(path) != is_text:
            raise ValueError(f"files must be of one kind, got {paths[0]!r} and {path!r}")
    if not is_text:
        return opened_parquet(paths, names), False
    parts = [opened_text(path, reading.separator) for path in paths]
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal_relaxed"), True


def some_files(source: Any, files: Sequence[str], first: int, last: int) -> Any:
    """The files first, ..., last - 1 of a source of Parquet files, with the columns of all."""
    if is_dataset(source):
        from pyarrow.dataset import FileSystemDataset

        fragments = list(source.get_fragments())[first:last]
        return FileSystemDataset(fragments, source.schema, source.format, source.filesystem)
    return some_parquet(files[first:last], column_kinds(source))


def num_rows(source: Any) -> int:
    """The rows of a source of Parquet files, by what stands at their ends."""
    if is_dataset(source):
        return int(source.count_rows())
    return int(source.select(polars_module().len()).collect().item())


def _keys(rows: Sequence[Mapping[Any, Any]]) -> list[Any]:
    """The names that occur in any row, in order of appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(columns: Mapping[Any, Any]) -> Any:
    """A frame of plain columns: sequences or arrays of one length."""
    pl = polars_module()
    named = {name: np.asarray(cells) if hasattr(cells, "dtype") else list(cells)
             for name, cells in columns.items()}  # fmt: skip
    sizes = {name: len(cells) for name, cells in named.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"columns must be of one length, got {sizes!r:.200}")
    return pl.DataFrame([_column(str(name), cells, 0) for name, cells in named.items()])


def column_names(source: Any) -> list[str]:
    """The names of the columns of a source that `opened` gave; a damaged file is refused."""
    pl = polars_module()
    if not isinstance(source, pl.LazyFrame) and not is_dataset(source):
        return list(source.columns)
    return list(column_kinds(source))


def column_kinds(source: Any) -> "Mapping[str, pl.DataType]":
    """The columns of a file that `opened` gave, and the kind of their cells."""
    module = polars_module()
    try:
        kinds: Mapping[str, pl.DataType]
        if is_dataset(source):
            kinds = module.DataFrame(source.schema.empty_table()).schema
        else:
            kinds = source.collect_schema()
    except module.exceptions.PolarsError as error:
        raise UnreadableSource(f"source could not be read: {error}") from error
    return kinds


def is_dataset(source: Any) -> bool:
    """Whether a source is an Arrow dataset."""
    return _is_a(source, "pyarrow._dataset", "Dataset")  # all that a worker loads to receive one


def _is_a(source: Any, module: str, kind: str) -> bool:
    """Whether a source is of this class; its module may not be installed."""
    return module in sys.modules and isinstance(source, getattr(sys.modules[module], kind))


def frames(
    source: Any, names: list[str], rows: int, files: Sequence[str] = (), reading: Reading = AS_IT_IS
) -> "Iterator[pl.DataFrame]":
    """Read these columns of a source, some rows at a time and in order.

    An error names the one of the `files` that is damaged.
    """
    try:
        yield from _frames(source, names, rows)
    except UnreadableSource as error:
        damaged = _damaged(files, names, rows, reading)
        if damaged is None:
            raise
        raise UnreadableSource(str(error).replace("source", f"source {damaged!r}", 1)) from error


def _damaged(files: Sequence[str], names: Sequence[str], rows: int, reading: Reading) -> str | None:
    """The first of these files that cannot be read; of several, another pass finds it."""
    if len(files) == 1:
        return files[0]
    for file in files:
        try:
            alone, _ = opened(file, reading)
            known = column_names(alone)
            for _ in _frames(alone, [name for name in names if name in known], rows):
                pass
        except (UnreadableSource, OSError):
            return file
    return None


def _frames(source: Any, names: list[str], rows: int) -> "Iterator[pl.DataFrame]":
    pl = polars_module()
    if isinstance(source, pl.DataFrame):
        yield from source.select(names).iter_slices(rows)
    elif isinstance(source, pl.LazyFrame):
        try:
            lazy = source.select(names)
            yield from lazy.collect_batches(chunk_size=rows, maintain_order=True)
        except pl.exceptions.PolarsError as error:
            raise UnreadableSource(f"source could not be read: {error}") from error
    elif is_dataset(source):
        yield from _dataset_frames(source, names, rows)
    else:
        for start in range(0, len(source), rows):
            part = source.iloc[start : start + rows]
            yield pl.DataFrame([_column(name, part[name].to_numpy(), start) for name in names])


def _dataset_frames(source: Any, names: list[str], rows: int) -> "Iterator[pl.DataFrame]":
    """An Arrow dataset batch by batch: of the next file no more is read ahead than one batch."""
    scanner = source.scanner(
        columns=names, batch_size=rows, batch_readahead=1, fragment_readahead=1
    )
    try:
        for batch in scanner.to_batches():
            if batch.num_rows:
                yield polars_module().DataFrame(batch)
    except (OSError, ValueError) as error:
        raise UnreadableSource(f"source could not be read: {error}") from error


def _column(name: str, values: Any, start: int) -> Any:
    """One column of an array or a list, without the help of Arrow, which pandas may lack."""
    pl = polars_module()
    if isinstance(values, np.ndarray) and (values.dtype.kind in "biufM" or values.ndim > 1):
        return pl.Series(name, values)
    cells = [None if _is_missing(cell) else cell for cell in values]
    if {type(cell) for cell in cells} - {type(None)} == {int, float}:
        cells = [None if cell is None else float(cell) for cell in cells]
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
