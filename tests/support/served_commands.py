"""`hierbandits serve` as people run it: a process that says where it listens."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager

from support.processes import COMMAND

_LISTENS = re.compile(r"Uvicorn running on (http://[^ ]+:\d+)")


class Served:
    """A process, where it listens, and what it has logged."""

    def __init__(self, process, log):
        self.process, self._log = process, log
        deadline = time.monotonic() + 300
        while (match := _LISTENS.search(self.log)) is None:
            assert process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)
        self.url = match[1]

    @property
    def log(self):
        return self._log.read_text()

    def end(self, how=signal.SIGTERM):
        """Send a signal; the status."""
        self.process.send_signal(how)
        return self.process.wait(timeout=120)


@contextmanager
def serving(data, *options, log=None):
    """Serve a folder, or none, by the command; killed at the end."""
    log = data.with_name(f"{data.name}.log") if log is None else log
    where = [] if data is None else ["--data", data]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [COMMAND, "serve", *where, "--port", "0", *options],
            stdout=out, stderr=out, env=os.environ, start_new_session=True,
        )  # fmt: skip
    try:
        yield Served(process, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
