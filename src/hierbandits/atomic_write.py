"""Files that are there whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write to, which takes the place of `path` if the block ends without error.

    The bytes go to a temporary file in the same folder.  At the end of the block it is forced to
    disk and renamed.  After an error it is removed, and an earlier file at `path` is as it was.
    """
    target = Path(path)
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    """The umask of the process.  The only way to read it is to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
