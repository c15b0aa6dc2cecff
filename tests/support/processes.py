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


def interrupted(*arguments, once, group=False):
    """Press Ctrl-C in the command `hierbandits` as soon as something is so; status and errors.

    With `group`, all processes that it started hear of it, as from a terminal, and those that are
    left afterwards are told too.
    """
    process = subprocess.Popen(
        [COMMAND, *arguments], stderr=subprocess.PIPE, text=True, start_new_session=group
    )
    try:
        deadline = time.monotonic() + 240
        while not once():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
    if group:
        return process.returncode, message, left_of(process.pid)
    return process.returncode, message


def left_of(session, patience=5):
    """The processes of a session that do not end by themselves soon, as Linux tells it."""
    deadline = time.monotonic() + patience
    while left := _living_in(session):
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def _living_in(session):
    """The names of a session's processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session and lives(folder.name):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has just ended
            pass
    return found


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


def lives(process):
    """Whether a process has not ended, as Linux tells it."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


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
