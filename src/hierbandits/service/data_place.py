"""Where a service keeps its data: all of it in a folder, or its ledger in a database."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from hierbandits.service.snapshots import Snapshots
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import Storage
from hierbandits.service.token_book import TokenBook
from hierbandits.service.token_file import TokenFile

STORE = "HIERBANDITS_STORE"
"""The environment variable that names the store: a list of processes shows no environment."""

_LEDGER = "ledger.db"


@dataclass(frozen=True, slots=True)
class DataPlace:
    """A data folder, and the address of the PostgreSQL database that is used in its place.

    With a store, the folder holds only what can be made again: snapshots, and files of an hour.
    """

    folder: Path
    store: str | None = field(default=None, repr=False)

    @classmethod
    def of_process(cls, folder: Path) -> "DataPlace":
        """The place that whoever started this process meant."""
        return cls(folder, os.environ.get(STORE))

    def __str__(self) -> str:
        """What people call it; no secret is in it."""
        if self.store is None:
            return str(self.folder)
        from hierbandits.service.store_url import StoreUrl

        return str(StoreUrl(self.store))

    def environment(self) -> dict[str, str]:
        """What a process that this one starts finds the same place by."""
        others = {name: value for name, value in os.environ.items() if name != STORE}
        return others if self.store is None else others | {STORE: self.store}

    def storage(self, *, read_only: bool = False, waits: bool = False) -> Storage:
        """The ledger; who `waits` comes when the process that writes to a store has ended."""
        if self.store is None:
            return SqliteStorage(self.folder / _LEDGER, read_only=read_only)
        from hierbandits.service.postgres_storage import PostgresStorage

        return PostgresStorage(self.store, read_only=read_only, waits=waits)

    @property
    def has_ledger(self) -> bool:
        """Whether there may be a ledger."""
        return self.store is not None or (self.folder / _LEDGER).is_file()

    def tokens(self) -> TokenBook:
        """Who may ask what."""
        if self.store is None:
            return TokenBook(TokenFile(self.folder / "tokens.json"))
        from hierbandits.service.token_table import TokenTable

        return TokenBook(TokenTable(self.store))

    @property
    def snapshots(self) -> Snapshots:
        """Agents in files."""
        return Snapshots(self.folder / "snapshots")
