"""What shows that a worker serves a store, so that nobody moves its policies meanwhile."""

from contextlib import suppress
from typing import Any

import psycopg

from hierbandits.service.postgres_writer import InUse
from hierbandits.service.store_url import StoreUrl

_SERVING = 0x68626E64, 3  # the advisory lock of all who serve shared policies
_PATIENT: dict[str, str | int] = {
    "tcp_keepalives_idle": 5,
    "tcp_keepalives_interval": 2,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""So the server lets go of a mark soon if the machine of its worker is gone."""


class WorkerMark:
    """An advisory lock in a session of its own: workers have it together, a move has it alone.

    The lock is gone with the session, whatever ends that.  `keep` makes it anew.
    """

    def __init__(self, store: str, *, alone: bool = False) -> None:
        self._url, self._alone = StoreUrl(store), alone
        self._connection: psycopg.Connection[Any] | None = None
        self.keep()

    def keep(self) -> None:
        """See that the lock is held; InUse if others hold it who cannot share it."""
        if self._connection is not None:
            try:
                self._connection.execute("SELECT 1")
                return
            except psycopg.Error:
                self.release()
        connection = self._url.connect(**_PATIENT)
        try:
            with self._url.faults():
                form = "pg_try_advisory_lock" if self._alone else "pg_try_advisory_lock_shared"
                row = connection.execute(f"SELECT {form}(%s, %s)", _SERVING).fetchone()
            if row != (True,):
                raise InUse(
                    f"no worker may serve {self._url} while policies are moved, but one does: stop "
                    "all workers"
                    if self._alone
                    else f"{self._url} must not be served while its policies are moved"
                )
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def release(self) -> None:
        """Let go of it."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with suppress(psycopg.Error):  # the server would only notice the end a little later
            connection.execute("SELECT pg_advisory_unlock_all()")
        connection.close()
