"""Ctrl-C stops a command within a second, even in the middle of a long computation.

Where the command has started a cluster, its processes are killed first, which may take another.

Python raises KeyboardInterrupt between two of its own instructions, and a factorisation of a large
matrix is one instruction.  So a thread hears of the signal too.  If the main thread has not left
in time, the thread ends the process.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

PATIENCE = 0.7  # seconds in which the main thread may leave by itself
INTERRUPTED = 130  # the exit status, as of shells

_own = threading.Event()  # set where the process is the command's own
_at_end: list[Callable[[], object]] = []  # what is done before the process is ended


def own_process() -> None:
    """Say that this process is the command's own, so that a command may end it."""
    _own.set()


@contextmanager
def at_a_sudden_end(action: Callable[[], object]) -> Iterator[None]:
    """Do something if the process is ended inside this block; a normal exit does not do it."""
    _at_end.append(action)
    try:
        yield
    finally:
        _at_end.remove(action)


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Inside this block Ctrl-C ends the process within a second.

    A process that is not the command's own, a notebook say, is left alone.
    """
    if not _own.is_set():
        yield
        return
    hear, speak = os.pipe()
    os.set_blocking(speak, False)
    earlier = signal.set_wakeup_fd(speak, warn_on_full_buffer=False)
    left = threading.Event()
    listener = threading.Thread(target=_listen, args=(hear, left), daemon=True)
    listener.start()
    try:
        yield
    except KeyboardInterrupt:
        left.set()
        _end()
    finally:
        left.set()
        signal.set_wakeup_fd(earlier)
        os.close(speak)  # the listener wakes up, and ends
        listener.join()
        os.close(hear)


def _listen(hear: int, left: threading.Event) -> None:
    """Wait for Ctrl-C, then for the main thread to leave; end the process if it does not."""
    while signals := os.read(hear, 64):
        if signal.SIGINT in signals and not left.wait(PATIENCE):
            _end()


@contextmanager
def before_leaving(action: Callable[[], object]) -> Iterator[None]:
    """Do something if Ctrl-C ends a command inside this block, and end the process then.

    A process that is not the command's own is left alone.
    """
    with at_a_sudden_end(action):
        try:
            yield
        except KeyboardInterrupt:
            if _own.is_set():
                _end()
            raise
        except BaseException as stop:
            if _own.is_set() and getattr(stop, "exit_code", None) == INTERRUPTED:
                with suppress(Exception):
                    action()
                os._exit(INTERRUPTED)  # the command has said so
            raise


def _end() -> NoReturn:
    """End the process without waiting for anything; even to free memory takes time."""
    for action in reversed(_at_end):
        with suppress(Exception):
            action()
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h\n")  # a progress bar may have hidden the cursor
    os.write(2, b"Aborted.\n")
    os._exit(INTERRUPTED)
