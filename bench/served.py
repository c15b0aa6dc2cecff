"""A service in a process of its own, for benchmarks that ask it over HTTP."""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any


class Caller:
    """Asks a server over one connection."""

    def __init__(self, port: int) -> None:
        self._line = HTTPConnection("127.0.0.1", port)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers."""
        self._line.request(method, path, None if body is None else json.dumps(body))
        reply = self._line.getresponse()
        told = json.loads(reply.read())
        assert reply.status < 300, told
        return told


@contextmanager
def served() -> Iterator[int]:
    """The port of a new service, whose data end with it."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "hierbandits", "serve", "--data", f"{folder}/data", "--port", "0"]
        log = Path(folder) / "log"
        with log.open("wb") as file:
            server = subprocess.Popen([sys.executable, *words], stdout=file, stderr=file)
        try:
            while not (found := re.search(r"http://[^ ]+:(\d+)", log.read_text())):
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
            yield int(found[1])
        finally:
            server.terminate()
            server.wait()
