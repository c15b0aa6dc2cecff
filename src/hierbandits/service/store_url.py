"""The address of a PostgreSQL database, whose secrets nobody is shown."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from hierbandits.service.storage import StorageDamaged, StorageFailed

SCHEMA = "hierbandits"
"""The schema of the database that holds all tables."""

_FORM = re.compile(r"postgres(ql)?://")
_SECRETS = ("password", "sslpassword", "passfile", "sslkey", "oauth_client_secret")
_PATIENT = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
    "application_name": "hierbandits",
}
_DAMAGE = (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted)

# What PostgreSQL says of a schema on which the user has no rights, and of one that is not there.
_UNSEEN = (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName)


class StoreUrl:
    """`postgresql://user@host:port/database`, checked."""

    def __init__(self, text: str) -> None:
        if not _FORM.match(text):
            raise ValueError(
                f"store must be an address such as postgresql://user@host/database, "
                f"got one that begins with {text[:10]!r}"
            )
        try:
            parts = conninfo_to_dict(text)
        except psycopg.Error:
            raise ValueError(
                "store must be an address such as postgresql://user@host/database, got one that "
                "cannot be read; it may hold a password, so it is not shown"
            ) from None
        self.text = text
        self._parts: dict[str, Any] = _PATIENT | parts

    def __str__(self) -> str:
        """Where the database is, without user and secrets."""
        parts = self._parts
        host = f"{parts.get('host', '')}" + (f":{parts['port']}" if "port" in parts else "")
        return f"postgresql://{host}/{parts.get('dbname', '')}"

    def __repr__(self) -> str:
        return f"StoreUrl({str(self)!r})"

    def hide(self, text: str) -> str:
        """A text without the secrets of this address."""
        for name in _SECRETS:
            secret = str(self._parts.get(name) or "")
            for form in {secret, quote(secret), quote(secret, safe="")} - {""}:
                text = text.replace(form, "***")
        return text

    def connect(self, **settings: str | int) -> psycopg.Connection[Any]:
        """A new connection with these settings of the server; StorageFailed if there is none."""
        chosen: dict[str, str | int] = {"search_path": SCHEMA, **settings}
        options = " ".join(f"-c {name}={value}" for name, value in chosen.items())
        given = str(self._parts.get("options") or "")
        with self.faults():
            return psycopg.connect(
                **self._parts | {"options": f"{given} {options}".strip()}, autocommit=True
            )

    @contextmanager
    def faults(self) -> Iterator[None]:
        """What PostgreSQL and its driver raise becomes what the service knows."""
        try:
            yield
        except _DAMAGE as error:
            raise StorageDamaged(f"the database is damaged: {self._words(error)}") from None
        except psycopg.Error as error:
            raise StorageFailed(
                f"the database cannot be read or written: {self._words(error)}"
            ) from None

    def _words(self, error: psycopg.Error) -> str:
        """What happened; not the details, which may hold rows and thereby names of tasks."""
        text = error.diag.message_primary or str(error) or type(error).__name__
        text = self.hide(" ".join(text.split()))
        if isinstance(error, _UNSEEN):
            text += (
                f". The user must have the right USAGE on the schema {SCHEMA}, and CREATE to "
                "upgrade its tables; or else its tables are not there"
            )
        elif isinstance(error, psycopg.errors.InsufficientPrivilege):
            text += (
                f". The user must have the rights USAGE and CREATE on the schema {SCHEMA} (CREATE "
                "on the database where there is none yet), and own its tables"
            )
        return text
