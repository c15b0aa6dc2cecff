"""What a report says of the log that it was made from."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from hierbandits.logs.remote_files import is_remote, remote_facts
from hierbandits.reporting.provenance import MOST_BYTES, file_facts


def origin_of(source: Any) -> str:
    """A source in words: a path, a pattern or several as given, or the kind of a frame."""
    if isinstance(source, str | PathLike):
        return str(source)
    paths = source if isinstance(source, list | tuple) else ()
    if paths and all(isinstance(path, str | PathLike) for path in paths):
        return ", ".join(str(path) for path in paths)
    kind = type(source)
    module = kind.__module__.split(".")[0]
    return f"a {kind.__name__}" if module == "builtins" else f"a {module} {kind.__name__}"


def facts_of_files(files: Sequence[str]) -> list[dict[str, Any]]:
    """The sizes, times and digests of files; digests are computed until MOST_BYTES were read."""
    facts, left = [], MOST_BYTES
    for name in files:
        if is_remote(name):
            facts.append(remote_facts(name))
            continue
        facts.append(file_facts(name, left))
        left -= facts[-1]["bytes"] if facts[-1]["sha256"] else 0
    return facts
