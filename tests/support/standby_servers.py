"""Two servers of one store: one serves, the other waits to take over."""

import time

from support.servers import Server


class StandbyServers:
    """As a `Server`: `kill` kills the one that serves, `start` lets the other take over."""

    def __init__(self, folder, store, **options):
        self._folder, self._store, self._options, self._number = folder, store, options, 0
        self.active = self._new()
        self._standby = None
        self._blocked = []

    def _new(self, store=None):
        self._number += 1
        place = self._folder / f"worker {self._number}"
        return Server(place, store=store or self._store, **self._options)

    @property
    def port(self):
        return self.active.port

    def start(self):
        """Let the first one serve, or the one that waits."""
        if self._standby is None:
            self.active.start()
        else:
            self.active = self._standby
            self.active.wait()
        self._stand_by()
        return self

    def _stand_by(self, store=None):
        self._standby = self._new(store)
        self._standby.begin()

    def replace_standby(self, store):
        """Let the one that waits be one that reaches the store by another address."""
        self._standby.kill()
        self._stand_by(store)

    def take_over(self):
        """Wait until the one that waits serves; the other lives on, but cannot write."""
        self._blocked.append(self.active)
        self.start()

    def settle(self):
        """Whoever has the lock now serves; one that was taken over has ended, and comes back."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.active.process.poll() is not None:
                self.start()
                return
            if self.active.is_ready():
                return
            time.sleep(0.1)
        raise AssertionError("nobody serves")

    def kill(self):
        self.active.kill()

    def close(self):
        for one in (self.active, self._standby, *self._blocked):
            if one is not None:
                one.kill()
