"""The folder of a report: it holds files that this program can prove it wrote, and others' too."""

import json
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import file_digest, sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any

from hierbandits.atomic_write import atomic_write

SETTINGS = "settings.json"
FIXED = (SETTINGS, "summary.json", "report.html")
"""What every report has."""


class ReportFolder:
    """Replaces and removes files of earlier reports, and no others.

    settings.json has the digests of all other files.  What has another digest, or none, was not
    written by a report, or was changed since.  Neither is a link: what it leads to may be anywhere.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder)

    def check(self, names: Iterable[str] = FIXED) -> None:
        """Raise an error if files of these names, or of an earlier report, are not a report's."""
        digests = self._digests()
        for name in sorted({*names, *digests}):
            if os.path.lexists(self.path / name) and not self._is_own(name, digests):
                raise FileExistsError(
                    f"{self.path / name} must be as an earlier report left it, got a file that was "
                    "changed since or is not a report's: remove it, or give another folder"
                )

    def write(self, settings: Mapping[str, Any], contents: Mapping[str, bytes]) -> None:
        """Write a report's files and its settings, and remove what earlier reports have left.

        Each file is whole.  After an interruption settings.json knows all that is there.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self.check([SETTINGS, *contents])
        earlier = self._digests()
        own = {name: [sha256(content).hexdigest()] for name, content in contents.items()}
        every = {name: earlier.get(name, []) + own.get(name, []) for name in {*earlier, *own}}
        self._write_settings(settings, contents, every)
        for name, content in contents.items():
            self._write(name, content)
        for name in sorted(set(earlier) - set(own)):
            if self._is_own(name, earlier):
                (self.path / name).unlink()
        self._write_settings(settings, contents, own)

    def _write_settings(
        self,
        settings: Mapping[str, Any],
        contents: Mapping[str, bytes],
        digests: Mapping[str, list[str]],
    ) -> None:
        files = {"files": sorted([SETTINGS, *contents]), "digests": dict(sorted(digests.items()))}
        self._write(SETTINGS, as_json(dict(settings) | files))

    def _write(self, name: str, content: bytes) -> None:
        with atomic_write(self.path / name) as file:
            file.write(content)

    def _is_own(self, name: str, digests: Mapping[str, list[str]]) -> bool:
        """Whether a report wrote this file, as it is."""
        path = self.path / name
        if not os.path.lexists(path) or not S_ISREG(os.lstat(path).st_mode):
            return False
        if name == SETTINGS:
            return bool(digests)
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest() in digests.get(name, [])

    def _digests(self) -> dict[str, list[str]]:
        """The digests of an earlier report's files, by name; none if settings.json is no report's.

        A name of a file that would lie elsewhere is not one.
        """
        try:
            settings = json.loads((self.path / SETTINGS).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        digests = settings.get("digests") if isinstance(settings, dict) else None
        if not isinstance(digests, dict):
            return {}
        return {
            name: known
            for name, known in digests.items()
            if isinstance(known, list) and re.fullmatch(r"[^/\\\0]*[^/\\\0.][^/\\\0]*", name)
        }


def as_json(content: Any) -> bytes:
    """Plain data as a JSON file."""
    return (json.dumps(content, indent=2, allow_nan=False) + "\n").encode()
