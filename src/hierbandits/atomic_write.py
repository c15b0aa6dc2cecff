"""Files that are there whole or not at all."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO

from hierbandits.checks import file_path

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is locked, and no temporary file is removed
    fcntl = None  # type: ignore[assignment]

_LONGEST = 100  # characters of a file's name that the name of its temporary file has


@contextmanager
def atomic_write(
    path: str | PathLike[str], check: Callable[[Path], object] | None = None
) -> Iterator[IO[bytes]]:
    """A binary file to write to, which takes the place of `path` if the block ends without error.

    The bytes go to a temporary file in the same folder.  At the end of the block it is forced to
    disk and renamed, and then the folder is forced to disk.  After an error it is removed, and an
    earlier file at `path` is as it was.  The new file has the permissions of an earlier one, and
    its owner if that is allowed; a link keeps pointing where it did.

    `check` is called right before the renaming, with the path that links lead to, and raises an
    error if the file must not be replaced: no other writer of this package replaces it meanwhile.
    What writers that were killed have left for this file is removed.
    """
    target = Path(os.path.realpath(file_path("path", path)))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{os.fspath(path)} must be in a folder that exists")
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)} must be a file, got a folder or a device")
    remove_stale(target.parent, target.name)
    with _temporary(target) as file:
        try:
            _take_after(target, file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
            with _alone_in(target.parent) as folder:
                if check is not None:
                    check(target)
                os.replace(file.name, target)
                if folder is not None:
                    os.fsync(folder)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def whole_file(path: str | PathLike[str]) -> bytes:
    """All bytes of a file."""
    return file_path("path", path).read_bytes()


def _temporary(target: Path) -> IO[bytes]:
    """A new file beside the target, locked for as long as it is open.

    The lock goes with the process, however that ends, and so tells others that they may remove it.
    """
    while True:
        name = target.with_name(f".{target.name[:_LONGEST]}.{token_hex(8)}.part")
        file = open(name, "xb")  # noqa: SIM115  # the caller closes it
        # Whoever has it locked takes it for a dead writer's, and removes it: wait, and look.
        if not _take_lock(file.fileno(), wait=True) or os.fstat(file.fileno()).st_nlink:
            return file
        file.close()


def remove_stale(folder: Path, name: str | None = None) -> None:
    """Remove what dead writers of a file of this name, or of any file, have left in a folder."""
    known = ".+" if name is None else re.escape(name[:_LONGEST])
    pattern = re.compile(rf"\.{known}\.[0-9a-f]{{16}}\.part")
    with suppress(PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unlocked(entry.path)


def _remove_unlocked(path: str) -> None:
    with suppress(OSError):  # another removes it too, or may not
        number = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if _take_lock(number):
                os.unlink(path)
        finally:
            os.close(number)


def _take_after(target: Path, number: int) -> None:
    """Give an open file the owner and the permissions of the target, if there is one."""
    with suppress(FileNotFoundError):
        earlier = target.stat()
        if hasattr(os, "fchown"):
            with suppress(PermissionError):
                os.fchown(number, earlier.st_uid, earlier.st_gid)
        os.chmod(number, earlier.st_mode & 0o7777)


@contextmanager
def _alone_in(folder: Path) -> Iterator[int | None]:
    """An open folder in which nobody else renames meanwhile; None where it cannot be opened."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except PermissionError:
        yield None
        return
    try:
        if fcntl is not None:
            with suppress(OSError):  # of a file system without locks
                fcntl.flock(number, fcntl.LOCK_EX)
        yield number
    finally:
        if fcntl is not None:
            with suppress(OSError):  # a child that was forked has it open too
                fcntl.flock(number, fcntl.LOCK_UN)
        os.close(number)


def _take_lock(number: int, *, wait: bool = False) -> bool:
    """Lock an open file; False if another has it locked, or where there are no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
