"""Which files an object has loaded or saved, so that it replaces none that another saved since."""

import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any

from numpy.typing import NDArray

from hierbandits.archive import mark_of, read_archive, write_archive
from hierbandits.checks import boolean, file_path


class FileMarks:
    """The mark that each file had when it was loaded or saved; every save gives it a new one."""

    def __init__(self) -> None:
        self._marks: dict[Path, str] = {}

    def read(
        self, path: str | PathLike[str], kind: str, version: int
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """`read_archive`; the file's mark is remembered."""
        path = file_path("path", path)
        mark = mark_of(
            path
        )  # before the contents: of a file that is replaced meanwhile, an old one
        contents = read_archive(path, kind, version)
        if mark is not None:
            self._marks[Path(os.path.realpath(path))] = mark
        return contents

    def write(
        self,
        path: str | PathLike[str],
        kind: str,
        version: int,
        meta: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        *,
        overwrite: bool,
    ) -> None:
        """`write_archive`; a file that another has replaced since is kept, unless `overwrite`."""
        path, overwrite = file_path("path", path), boolean("overwrite", overwrite)
        mark, where = token_hex(8), Path(os.path.realpath(path))
        last = None if overwrite else self._marks.get(where)

        def check(target: Path) -> None:
            if last is not None and target.exists() and mark_of(target) != last:
                raise FileExistsError(
                    f"{path} must be as it was loaded or saved here, but another has saved it "
                    "since: load that file, save under another name, or give overwrite=True"
                )

        write_archive(path, kind, version, meta, arrays, mark=mark, check=check)
        self._marks[where] = mark
