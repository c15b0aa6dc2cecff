"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write to, which takes the place of `path` if the block ends without error.

    The bytes go to a temporary file in the same folder.  At the end of the block it is forced to
    disk and renamed.  After an error it is removed, and an earlier file at `path` is as it was.
    The new file has the permissions of an earlier one; a link keeps pointing where it did.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{os.fspath(path)} must be in a folder that exists")
    temporary = target.with_name(f".{target.name[:100]}.{token_hex(8)}")
    with open(temporary, "xb") as file:
        try:
            with suppress(FileNotFoundError):
                os.chmod(temporary, target.stat().st_mode & 0o7777)
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
