"""Where the numbers of a report come from: files, columns, rows, date, version and command."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any

from hierbandits.reporting.shown_name import shown_name

MADE_FROM = "made_from"
"""The key of a report's settings that says what it was made from; see `origin_lines`."""

MOST_BYTES = 1 << 30  # of the files whose digest is computed
MOST_FILES = 5  # of a pattern, that a page names
MOST_COLUMNS = 12  # of features, that a page names


def file_facts(name: str | Path, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """A file as it is now: its name as given, size, time of the last change and digest.

    The digest is None if the file has more than `most_bytes`.
    """
    path = Path(name)
    facts = path.stat()
    digest = None
    if facts.st_size <= most_bytes:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    changed = datetime.fromtimestamp(facts.st_mtime, UTC)
    return {
        "name": str(name),
        "bytes": facts.st_size,
        "modified": time_text(changed),
        "sha256": digest,
    }


def time_text(time: datetime) -> str:
    """A time to the second, as settings.json has it: 2026-11-16T09:30:00Z."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def origin_lines(
    settings: Mapping[str, Any], made: str, versions: Mapping[str, str]
) -> list[tuple[str, str]]:
    """What a page says of its origin: a word and a text for each line.

    `settings` may have MADE_FROM, a dictionary with `log` (what it is), `files` (their facts),
    `columns` (by what they are for), `rows` and `left_out`; and `command`, the command line.
    """
    source = settings.get(MADE_FROM)
    lines = []
    if source is None:
        lines.append(("Data", "simulated; no file was read"))
    else:
        lines.append(("Data", shown_name(source["log"], 200)))
        files = source.get("files", [])
        lines += [("File", _file_text(facts)) for facts in files[:MOST_FILES]]
        if len(files) > MOST_FILES:
            more = f"{len(files) - MOST_FILES:,} more files are in settings.json"
            lines.append(("File", more))
        if "columns" in source:
            lines.append(("Columns", _columns_text(source["columns"])))
        if "rows" in source:
            gone = source.get("left_out", "none")
            lines.append(("Rows", f"{source['rows']:,} read; left out: {gone}"))
    day, clock = made.removesuffix("Z").split("T")
    own = versions.get("hierbandits", "unknown")
    others = ", ".join(
        f"{name} {number}" for name, number in versions.items() if name[:4] != "hier"
    )
    lines.append(("Made", f"on {day} at {clock} UTC by hierbandits {own} ({others})"))
    command = settings.get("command")
    lines.append(("Command", str(command) if command else "none: made by a call of the library"))
    return lines


def _file_text(facts: Mapping[str, Any]) -> str:
    changed = "at a time that its storage does not tell"
    if facts["modified"] is not None:
        day, clock = facts["modified"].removesuffix("Z").split("T")
        changed = f"on {day} at {clock} UTC"
    far = "not computed for a file that is elsewhere"
    digest = facts["sha256"] or (
        far if "://" in facts["name"] else "not computed for so large a file"
    )
    return (
        f"{shown_name(facts['name'], 200)}, {facts['bytes']:,} bytes, last changed {changed}, "
        f"SHA-256 {digest}"
    )


def _columns_text(columns: Mapping[str, Any]) -> str:
    parts = []
    for role, names in columns.items():
        several = [names] if isinstance(names, str) else list(names)
        shown = ", ".join(shown_name(name) for name in several[:MOST_COLUMNS])
        if len(several) > MOST_COLUMNS:
            shown += f" and {len(several) - MOST_COLUMNS} more"
        parts.append(f"{role}: {shown}")
    return "; ".join(parts)
