"""Services on one PostgreSQL under load, and everything that can go wrong with them."""

import time

from support.service_kills import KilledService
from support.socket_proxy import SocketProxy, through
from support.standby_servers import StandbyServers


class PostgresTroubles:
    """Two processes of one store: rounds of load, each with a trouble, and all checks after it."""

    def __init__(self, postgres, folder, seed, **options):
        self._postgres, self.url = postgres, postgres.database()
        self._folder = folder
        self.servers = StandbyServers(folder / "workers", self.url)
        self.service = KilledService(None, seed, server=self.servers, **options)

    def close(self):
        self.servers.close()
        self._postgres.drop(self.url)

    def kill_a_worker(self, longest):
        """kill -9 of the process that serves; the other takes over."""
        self.service.round(longest)

    def cut_all(self, longest):
        """All connections are cut; either process may have the lock next."""
        self._troubled(longest, lambda: self._postgres.cut(self.url))

    def restart(self, longest):
        """PostgreSQL is stopped and started."""

        def trouble():
            self._postgres.stop()
            time.sleep(0.5)
            self._postgres.start()

        self._troubled(longest, trouble)

    def _troubled(self, longest, trouble):
        self.service.round(longest, trouble=lambda: (trouble(), self.servers.settle()))

    def block_a_worker(self, longest):
        """The socket of the process that serves is blocked: the other takes over, this one ends."""
        folder = self._folder / "proxy"
        folder.mkdir(exist_ok=True)
        (folder / ".s.PGSQL.5432").unlink(missing_ok=True)
        with SocketProxy(folder, self._postgres.socket_folder) as proxy:
            self.servers.replace_standby(through(self.url, folder))
            self.service.round(longest)  # the one behind the proxy serves now
            blocked = self.servers.active

            def trouble():
                proxy.block()
                self.servers.take_over()

            self.service.round(longest, trouble=trouble)
            proxy.unblock()
            assert blocked.process.wait(60) is not None, "it was taken over, and goes on"
