"""The service in a process of its own, on a free port, with a data folder of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

from hierbandits.service.data_place import DataPlace

_PROGRAM = """
import json, sys
from pathlib import Path
from hierbandits.service.serve import serve
serve(Path(sys.argv[1]), **json.loads(sys.argv[2]))
"""
_LISTENS = re.compile(r"Uvicorn running on http://[^ ]+:(\d+)")


class Server:
    """`with Server(folder) as server: server.client().get("/health")`.

    `options` are those of `serve`; the log is written to `server.log`.  The process has a group
    of its own, and is killed at the end of the block.
    """

    def __init__(self, folder, *, program=_PROGRAM, timeout=120, **options):
        self.folder, self.options = Path(folder), {"port": 0} | options
        self.log = self.folder.with_name(f"{self.folder.name}.log")
        self.port, self.process = None, None
        self._program, self._timeout, self._clients = program, timeout, []

    def __enter__(self):
        return self.start()

    def __exit__(self, *error):
        for client in self._clients:
            client.close()
        self.kill()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        """Start the process, and wait until it listens; the log goes on in the same file."""
        self.begin()
        return self.wait()

    def begin(self):
        """Start the process."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._begin = log.tell()
            self.process = subprocess.Popen(
                [sys.executable, "-c", self._program, str(self.folder), json.dumps(self.options)],
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                start_new_session=True,
            )

    def wait(self):
        """Wait until the process listens."""
        begin, deadline = self._begin, time.monotonic() + self._timeout
        while (match := _LISTENS.search(self._log_from(begin))) is None:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the server does not start: {self._log_from(begin)[-3000:]}")
            time.sleep(0.01)
        self.port = int(match[1])
        return self

    def _log_from(self, begin):
        with self.log.open("rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace")

    def token(self, name="all", scopes=("admin",), policies=None, expires=None):
        """Make a token, before or while the server runs; its secret."""
        self.folder.mkdir(parents=True, exist_ok=True)
        tokens = DataPlace(self.folder).tokens()
        return tokens.create(name, scopes, policies, time.time(), expires)

    def client(self, token=None, **options):
        """A client of the server; it lives as long as the block."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        one = httpx.Client(
            base_url=self.url, headers=headers, trust_env=False, **{"timeout": 60} | options
        )
        self._clients.append(one)
        return one

    def is_ready(self):
        """Whether the process answers, and can serve all policies."""
        try:
            return httpx.get(f"{self.url}/ready", trust_env=False, timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def lines(self):
        """The lines of the log that are JSON."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def kill(self):
        """Kill the process and all that it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self, timeout=60):
        """Ask the process to end, and wait for that; its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)
