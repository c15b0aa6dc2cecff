"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write to, which takes the place of `path` if the block ends without error.

    The bytes go to a temporary file in the same folder.  At the end of the block it is forced to
    disk and renamed.  After an error it is removed, and an earlier file at `path` is as it was.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{token_hex(8)}")
    with open(temporary, "xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
