"""Finished chunks of a study on disk, so that an interrupted study resumes."""

import re
from pathlib import Path
from typing import Any

from hierbandits.archive import read_archive, write_archive
from hierbandits.policies.recipes import Recipe
from hierbandits.simulation.fingerprint import fingerprint
from hierbandits.simulation.study import OUTCOME_ARRAYS, Outcome
from hierbandits.types import Indices

_VERSION = 1


class Checkpoint:
    """A folder of chunks, each under the fingerprint of everything that it depends on."""

    def __init__(self, folder: str | Path | None, study: tuple[Any, ...]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._study = "" if folder is None else fingerprint(study)
        self._recipes: dict[str, str] = {}

    def read(
        self, name: str, recipe: Recipe, first: int, runs: int
    ) -> tuple[Indices, Outcome] | None:
        """A chunk that was finished before, or None; an unsound file counts as none."""
        path = self._path(name, recipe, first, runs)
        if path is None or not path.exists():
            return None
        try:
            meta, arrays = read_archive(path, "chunk", _VERSION)
            rounds = arrays.pop("rounds")
            return rounds, Outcome(**arrays, seconds=meta["seconds"])
        except (ValueError, KeyError, TypeError):
            return None

    def write(
        self, name: str, recipe: Recipe, first: int, rounds: Indices, outcome: Outcome
    ) -> None:
        """Keep a finished chunk."""
        path = self._path(name, recipe, first, len(outcome.total))
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {part: getattr(outcome, part) for part in OUTCOME_ARRAYS}
        write_archive(
            path, "chunk", _VERSION, {"seconds": outcome.seconds}, arrays | {"rounds": rounds}
        )

    def _path(self, name: str, recipe: Recipe, first: int, runs: int) -> Path | None:
        if self._folder is None:
            return None
        if name not in self._recipes:  # once, before running can change what it holds
            self._recipes[name] = fingerprint(recipe)
        key = fingerprint((self._study, name, self._recipes[name], first, runs))
        label = re.sub(r"[^\w-]", "_", name)[:40]
        return self._folder / f"{label}-{first}-{key[:16]}.chunk"
