"""Two servers of one store: one serves, the other waits to take over."""

from support.servers import Server


class StandbyServers:
    """As a `Server`: `kill` kills the one that serves, `start` lets the other take over."""

    def __init__(self, folder, store, **options):
        self._folder, self._options, self._number = folder, options | {"store": store}, 0
        self._active = self._new()
        self._standby = None

    def _new(self):
        self._number += 1
        return Server(self._folder / f"worker {self._number}", **self._options)

    @property
    def port(self):
        return self._active.port

    @property
    def logs(self):
        return sorted(self._folder.glob("*.log"))

    def start(self):
        if self._standby is None:
            self._active.start()
        else:
            self._active = self._standby
            self._active.wait()
        self._standby = self._new()
        self._standby.begin()
        return self

    def kill(self):
        self._active.kill()

    def close(self):
        for one in (self._active, self._standby):
            if one is not None:
                one.kill()
