"""Finished chunks of a study on disk, so that an interrupted study resumes."""

import re
from contextlib import suppress
from pathlib import Path

from hierbandits.archive import read_archive, write_archive
from hierbandits.atomic_write import remove_stale
from hierbandits.simulation.chunk import Chunk, StudySettings
from hierbandits.simulation.fingerprint import fingerprint
from hierbandits.simulation.study import OUTCOME_ARRAYS, Outcome
from hierbandits.types import Indices

_VERSION = 1
_NAME = re.compile(r"[\w-]{1,40}-\d+-[0-9a-f]{16}\.chunk")


class Checkpoint:
    """A folder of finished chunks.

    The name of a chunk's file has the fingerprint of all that the chunk was computed from.  So a
    chunk that was computed from anything else is not read.  Without a folder nothing is kept.
    """

    def __init__(self, folder: str | Path | None, settings: StudySettings) -> None:
        self._folder = None if folder is None else Path(folder)
        self._settings = "" if folder is None else fingerprint(settings)
        self._recipes: dict[str, str] = {}  # fingerprints by the policy's name

    def read(self, chunk: Chunk) -> tuple[Indices, Outcome] | None:
        """The rounds and the outcome of a finished chunk, or None if no sound file has them."""
        path = self._path(chunk)
        if path is None or not path.exists():
            return None
        try:
            meta, arrays = read_archive(path, "chunk", _VERSION)
            rounds = arrays.pop("rounds")
            return rounds, Outcome(**arrays, seconds=meta["seconds"])
        except (ValueError, KeyError, TypeError):
            return None

    def write(self, chunk: Chunk, rounds: Indices, outcome: Outcome) -> None:
        """Keep a finished chunk."""
        path = self._path(chunk)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(outcome, name) for name in OUTCOME_ARRAYS}
        write_archive(
            path, "chunk", _VERSION, {"seconds": outcome.seconds}, arrays | {"rounds": rounds}
        )

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove all chunks in a folder: files with a chunk's name that hold a chunk."""
        for path in folder.iterdir():
            if not _NAME.fullmatch(path.name) or path.is_symlink():
                continue
            with suppress(ValueError):
                read_archive(path, "chunk", _VERSION)
                path.unlink()
        remove_stale(folder)

    def _path(self, chunk: Chunk) -> Path | None:
        if self._folder is None:
            return None
        name = chunk.policy
        if name not in self._recipes:  # before the first run, which may change what it holds
            self._recipes[name] = fingerprint(chunk.recipe)
        parts = (self._settings, name, self._recipes[name], chunk.first_run, chunk.runs)
        label = re.sub(r"[^\w-]", "_", name)[:40]
        return self._folder / f"{label}-{chunk.first_run}-{fingerprint(parts)[:16]}.chunk"
