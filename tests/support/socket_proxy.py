"""A proxy between a client and PostgreSQL's socket, which can be blocked without being closed."""

import selectors
import socket
import threading
from contextlib import suppress

_NAME = ".s.PGSQL.5432"


class SocketProxy:
    """`with SocketProxy(folder, server_folder) as proxy:` clients connect to `folder`."""

    def __init__(self, folder, server_folder):
        self._target = str(server_folder / _NAME)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _NAME))
        self._listener.listen(64)
        self._may_pass, self._is_closed = threading.Event(), False
        self._may_pass.set()
        self._sockets = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.cuts = lambda data: None
        """What to do with what a client sends: None, cut "before" or "after" it is passed on, or
        let nothing pass from then on ("block")."""

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *error):
        self._is_closed = True
        self._may_pass.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def block(self):
        """Let nothing pass; both ends believe that the other is there."""
        self._may_pass.clear()

    def unblock(self):
        self._may_pass.set()

    def cut(self):
        """Cut all connections."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        while not self._is_closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                client.close()
                continue
            self._sockets += [client, server]
            threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client, server):
        with selectors.DefaultSelector() as ready, client, server:
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in ready.select():
                    try:
                        data = key.fileobj.recv(65536)
                        self._may_pass.wait()
                        cut = self.cuts(data) if key.fileobj is client else None
                        if cut != "before":
                            key.data.sendall(data)
                        if cut == "block":
                            self.block()
                        elif cut is not None:
                            client.close()
                            server.recv(65536)  # what it answers, nobody hears
                            return
                    except OSError:
                        data = b""
                    if not data:
                        return


def through(url, folder):
    """An address of the same database, by the socket in another folder."""
    return f"{url.partition('?')[0]}?host={folder}"
