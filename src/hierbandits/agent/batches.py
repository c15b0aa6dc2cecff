"""The batches that an agent has decided: what lets a file of tasks be decided once."""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from hierbandits.checks import count

_KEY_LENGTH = 16  # hexadecimal digits


class Batches:
    """Knows each batch by a key of all that it was made from, and how many rows it had.

    The decisions of a batch have ids that its key and their rows determine.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def add(self, key: str, num_rows: int) -> None:
        """The agent has decided this batch from now on."""
        self._rows[key] = num_rows

    def has_made(self, id: str) -> bool:
        """Whether a decision of this id was made in one of the batches."""
        key, _, row = id.rpartition("-")
        is_row = row.isascii() and row.isdecimal() and row == str(int(row[:20]))
        return is_row and int(row) < self._rows.get(key, 0)

    def state(self) -> dict[str, int]:
        """All batches as plain data."""
        return dict(self._rows)

    def restore(self, saved: Any) -> None:
        """Take the batches that `state` described, checked."""
        if not isinstance(saved, dict):
            raise ValueError(f"batches must be a mapping from key to rows, got {saved!r:.80}")
        for key, rows in saved.items():
            self._rows[str(key)] = count("batches", rows)


def batch_key(parts: Iterable[Any]) -> str:
    """The key of a batch: a digest of plain data, a part at a time."""
    digest = sha256()
    for part in parts:
        digest.update(json.dumps(part, ensure_ascii=True).encode() + b"\n")
    return digest.hexdigest()[:_KEY_LENGTH]


def batch_ids(key: str, num_rows: int) -> list[str]:
    """The ids of a batch's decisions."""
    return [f"{key}-{row}" for row in range(num_rows)]
