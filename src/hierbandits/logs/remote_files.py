"""Parquet files that are somewhere else: on object storage, or wherever fsspec reaches."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hierbandits.reporting.provenance import time_text

_READERS = 16  # threads that read the ends of files, where Parquet says what is in them


def is_remote(path: Any) -> bool:
    """Whether a path is a URL, "s3://bucket/log/" say."""
    return isinstance(path, str) and "://" in path


def remote_files(url: str) -> list[str]:
    """A file; the files of a folder, or those that a pattern names, in the order of their names."""
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
    except OSError as error:
        raise _unreadable(url, error) from error
    if not found:
        raise FileNotFoundError(f"source must be a file or a folder of .parquet files, got {url!r}")
    return [str(files.unstrip_protocol(one)) for one in sorted(found)]


def opened_remote(urls: Sequence[str]) -> Any:
    """An Arrow dataset of Parquet files in one file system; its columns are those of any file."""
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

    def schema(path: str) -> Any:
        with filesystem.open(path) as file:
            return parquet.read_schema(file)

    try:
        with ThreadPoolExecutor(_READERS) as threads:
            schemas = list(threads.map(schema, paths))
        hive = "hive" if any("=" in path for path in paths) else None
        form = {"filesystem": filesystem, "format": "parquet", "partitioning": hive}
        first = dataset.dataset(paths, **form).schema  # with the columns that folders name
        kinds = pa.unify_schemas([first, *schemas], promote_options="permissive")
        return dataset.dataset(paths, schema=kinds, **form)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(urls[0], error) from error


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
