"""Python and the command line, each in a process of its own."""

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

COMMAND = Path(sys.executable).with_name("hierbandits")


def python(*arguments, path=None, timeout=300, **environment):
    """Run Python with these arguments; `path` comes first where modules are looked for."""
    return _run([sys.executable, *arguments], path, environment, timeout)


def command(*arguments, path=None, **environment):
    """Run the command `hierbandits`."""
    return _run([COMMAND, *arguments], path, environment)


def interrupted(*arguments, once):
    """Press Ctrl-C in the command `hierbandits` as soon as something is so; status and errors."""
    process = subprocess.Popen([COMMAND, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 240
        while not once():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, message


def in_child(action):
    """What an action returns in a forked child, as text."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where threads run
        child = os.fork()
    if child == 0:
        try:
            os.write(write, str(action()).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as result:
        return result.read()


def processes_of(process):
    """The processes that a process has started, as Linux tells it."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return {int(child) for path in threads for child in path.read_text().split()}


def _run(words, path, environment, timeout=300):
    folders = [str(path)] if path else []
    folders += filter(None, [os.environ.get("PYTHONPATH")])
    settings = {"PYTHONPATH": os.pathsep.join(folders), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        words,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
