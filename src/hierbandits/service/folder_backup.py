"""A copy of a data folder, made while it is served."""

import os
import shutil
import time
from pathlib import Path

from hierbandits.service.storage import Storage

_COPIED = "tokens.json"


def backup_folder(folder: Path, storage: Storage, now: float) -> Path:
    """Copy the ledger, as of one moment, and the tokens to a new folder in `backups`.

    It is a data folder itself: a service that is started on a copy of it goes on from there.
    The copy is whole or not there, and on the disk when this returns.  Snapshots are not copied.
    """
    moment = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime(now))
    backups = folder / "backups"
    backups.mkdir(exist_ok=True)
    made, unfinished = backups / moment, backups / f"{moment}.unfinished"
    if made.exists() or unfinished.exists():
        raise ValueError(f"backups must be a second apart, got another one of {moment}")
    unfinished.mkdir()
    try:
        storage.backup(str(unfinished / "ledger.db"))
        if (folder / _COPIED).exists():
            shutil.copy2(folder / _COPIED, unfinished / _COPIED)
        for path in [*unfinished.iterdir(), unfinished]:
            _sync(path)
        unfinished.rename(made)
        _sync(backups)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return made


def _sync(path: Path) -> None:
    """Let a file, or the names in a folder, be on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
