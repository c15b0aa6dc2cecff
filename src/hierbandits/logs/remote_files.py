"""Parquet files that are somewhere else: on object storage, or wherever fsspec reaches."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hierbandits.logs.file_kinds import joined_kinds
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.text_file import UnreadableSource
from hierbandits.reporting.provenance import time_text

_READERS = 16  # threads that read the ends of files, where Parquet says what is in them


def is_remote(path: Any) -> bool:
    """Whether a path is a URL, "s3://bucket/log/" say."""
    return isinstance(path, str) and "://" in path


def remote_files(url: str) -> list[str]:
    """A file; the files of a folder, or those that a pattern names, in the order of their names."""
    if not url.partition("://")[2].strip("/"):
        raise ValueError(f"source must be the URL of a file, a folder or a pattern, got {url!r}")
    files, path = _filesystem(url)
    try:
        if any(mark in path for mark in "*?["):
            found = [one for one in files.glob(path) if files.isfile(one)]
        elif files.isfile(path):
            found = [path]
        else:
            inside = files.find(path)
            names = [one.rsplit("/", 1)[-1] for one in inside]
            pairs = zip(inside, names, strict=True)
            found = [one for one, name in pairs if not name.startswith((".", "_"))]
            found = [one for one in found if one.lower().endswith(".parquet")]
    except Exception as error:  # each storage has errors of its own, for want of a password say
        raise _unreadable(url, error) from error
    if not found:
        raise FileNotFoundError(f"source must be a file or a folder of .parquet files, got {url!r}")
    return [str(files.unstrip_protocol(one)) for one in sorted(found)]


def opened_remote(urls: Sequence[str], names: Collection[str] | None = None) -> Any:
    """An Arrow dataset of Parquet files in one file system, with the columns of any.

    `names` are the columns that will be read, which must be of one kind in every file.
    """
    for url in urls:
        if not url.lower().endswith(".parquet"):
            raise ValueError(f"source must end in .parquet where it is a URL, got {url!r}")
    filesystem, _ = _filesystem(urls[0])
    paths = []
    for url in urls:
        its_own, path = _filesystem(url)
        if its_own != filesystem:
            raise ValueError(f"files must be in one file system, got {urls[0]!r} and {url!r}")
        paths.append(path)
    import pyarrow as pa
    from pyarrow import dataset, parquet

    def schema(url: str, path: str) -> Any:
        try:
            with filesystem.open(path) as file:
                return parquet.read_schema(file)
        except Exception as error:  # of Arrow, or of a storage
            raise UnreadableSource(f"source {url!r} could not be read: {error}") from error

    with ThreadPoolExecutor(_READERS) as threads:
        schemas = list(threads.map(schema, urls, paths))
    hive = "hive" if any("=" in path for path in paths) else None
    form = {"filesystem": filesystem, "format": "parquet", "partitioning": hive}
    try:
        first = dataset.dataset(paths, **form).schema  # with the columns that folders name
        of_folders = pa.schema([field for field in first if field.name not in schemas[0].names])
        schemas = [
            pa.schema([*one, *(field for field in of_folders if field.name not in one.names)])
            for one in schemas
        ]
        return dataset.dataset(paths, schema=_joined(urls, schemas, names), **form)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(urls[0], error) from error


def _joined(urls: Sequence[str], schemas: Sequence[Any], names: Collection[str] | None) -> Any:
    """A schema with the columns of all, each of a kind that holds its cells."""
    import pyarrow as pa

    pl = polars_module()
    kinds = [dict(pl.DataFrame(schema.empty_table()).schema) for schema in schemas]
    joined = joined_kinds(urls, kinds, names)
    forms: dict[str, list[Any]] = {name: [] for name in joined}
    for schema in schemas:
        for field in schema:
            if field.type not in forms[field.name]:
                forms[field.name].append(field.type)
    return pa.schema(
        [
            (name, some[0] if len(some) == 1 else _arrow_type(joined[name]))
            for name, some in forms.items()
        ]
    )


def _arrow_type(kind: Any) -> Any:
    """What holds cells of a kind of polars in Arrow."""
    pl = polars_module()
    if kind in (pl.Categorical, pl.Enum):
        kind = pl.String()
    if kind == pl.Int128:  # of 64 bits with a sign and without: Arrow has no more than these
        kind = pl.Int64()
    return pl.DataFrame(schema={"cells": kind}).to_arrow().schema.field("cells").type


def remote_facts(url: str) -> dict[str, Any]:
    """A file as it is now, by the storage's word; nobody reads it whole for a digest."""
    filesystem, path = _filesystem(url)
    facts = filesystem.info(path)
    changed = next(
        (facts[key] for key in ("LastModified", "mtime", "last_modified", "created", "updated")
         if hasattr(facts.get(key), "astimezone")),
        None,
    )  # fmt: skip
    return {
        "name": url,
        "bytes": int(facts.get("size") or 0),
        "modified": None if changed is None else time_text(changed),
        "sha256": None,
    }


def _filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import pyarrow as _  # noqa: F401  # which reads the files
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ValueError(
            f"source {url!r} needs more packages ({error}): pip install 'hierbandits[remote]'"
        ) from error
    try:
        filesystem, path = url_to_fs(url)
    except (ImportError, ValueError, OSError) as error:
        raise _unreadable(url, error) from error
    return filesystem, path


def _unreadable(url: str, error: Exception) -> ValueError:
    return ValueError(f"source {url!r} could not be read: {error}")
