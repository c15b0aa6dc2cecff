"""An SQLite file with a checksum on each page: one connection writes, others read."""

import ctypes
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import apsw.sqlite_extra

from hierbandits.service.storage import StorageDamaged, StorageFailed
from hierbandits.service.wal_frames import lost_frames

_CHECKED_PAGES = "cksmvfs"
_CHECKSUM_BYTES = 8
_PATIENCE = 5000  # milliseconds
_UNABLE = (
    apsw.FullError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.NoMemError,
)


class SqliteFile:
    """Transactions that are on the disk when they end, and reading in any thread.

    `tables` makes the tables of a new file, whose `format` is kept as the user_version.  By their
    format, `upgrades` bring files that are older to this one.
    """

    def __init__(
        self,
        path: Path,
        tables: str,
        format: int,
        upgrades: Mapping[int, str] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        _register_checked_pages()
        self.path = path
        self._write_lock = threading.Lock()
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        if not read_only:
            self._open_writer(tables, format, upgrades or {})

    def _open_writer(self, tables: str, format: int, upgrades: Mapping[int, str]) -> None:
        path = self.path
        is_new = not path.exists() or path.stat().st_size == 0
        log = path.with_name(path.name + "-wal")
        lost = lost_frames(log)
        if lost is not None:
            raise StorageDamaged(
                f"the write-ahead log {log} is damaged at frame {lost[0]}: transactions up to "
                f"frame {lost[1]} or later would be lost; restore a backup, or move the file away "
                "to go on without all of it"
            )
        with faults():
            writer = self._writer = apsw.Connection(str(path), vfs=_CHECKED_PAGES)
            if is_new:
                room = ctypes.c_int(_CHECKSUM_BYTES)
                where = ctypes.addressof(room)
                writer.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, where)
            writer.set_busy_timeout(_PATIENCE)
            writer.pragma("journal_mode", "wal")
            writer.pragma("synchronous", "full")
            writer.pragma("secure_delete", True)
            found = writer.pragma("user_version")
            if found == 0 or found in upgrades:
                with writer:
                    writer.execute(upgrades.get(found, tables))
                    writer.pragma("user_version", format)
            elif found != format:
                raise ValueError(
                    f"{path} must have the tables of format {format}, got {found}: another "
                    "version of hierbandits wrote it"
                )

    @property
    def _reader(self) -> apsw.Connection:
        """This thread's own connection, which cannot write."""
        reader: apsw.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            flags = apsw.SQLITE_OPEN_READONLY
            reader = apsw.Connection(str(self.path), flags=flags, vfs=_CHECKED_PAGES)
            reader.set_busy_timeout(_PATIENCE)
            self._local.reader = reader
            self._readers.append(reader)
        return reader

    def read(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query."""
        with faults():
            return list(self._reader.execute(sql, values))

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A transaction: what it holds happens wholly, and is on the disk, or not at all."""
        writer = self._writer
        if writer is None:
            raise StorageFailed(f"{self.path} is open for reading only")
        with self._write_lock, faults():
            try:
                writer.execute("BEGIN IMMEDIATE")
                yield writer
                writer.execute("COMMIT")
            except BaseException:
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                raise

    def empty_log(self) -> None:
        """Leave nothing of what was erased in the write-ahead log; in the file it is zeros."""
        with self._write_lock, faults():
            if self._writer is not None:
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close(self) -> None:
        """Read and write no more."""
        for reader in self._readers:
            reader.close()
        if self._writer is not None:
            self._writer.close()


@contextmanager
def faults() -> Iterator[None]:
    """What SQLite raises becomes what the service knows."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StorageDamaged(f"the database is damaged: {error}") from error
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            raise StorageDamaged(f"the database is damaged: {error}") from error
        raise StorageFailed(f"the database cannot be read or written: {error}") from error
    except _UNABLE as error:
        raise StorageFailed(f"the database cannot be written: {error}") from error


def _register_checked_pages() -> None:
    """Let SQLite keep a checksum on each page, and compare it whenever a page is read."""
    if _CHECKED_PAGES not in apsw.vfs_names():
        with apsw.Connection(":memory:") as memory:
            apsw.sqlite_extra.load(memory, "cksumvfs")
