"""Ctrl-C ends a command at once, in the middle of a computation too."""

import os
import subprocess
import sys

import pytest

BUSY = """
import os, signal, threading
import numpy as np
from hierbandits.cli.interruption import at_a_sudden_end, own_process, stopped_at_once

own_process()
with stopped_at_once(), at_a_sudden_end(lambda: print("cleared", flush=True)):
    a = np.random.default_rng(0).normal(size=(4000, 4000))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    np.linalg.eigvals(a)  # one instruction of Python's, of a minute or more
"""
PATIENT = """
import os, signal, threading
from hierbandits.cli.interruption import own_process, stopped_at_once

own_process()
with stopped_at_once():
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Event().wait(60)
    finally:
        print("left by itself", flush=True)
"""


@pytest.mark.parametrize(("code", "last"), [(BUSY, "cleared\n"), (PATIENT, "left by itself\n")])
def test_the_process_ends_long_before_its_work(code, last):
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        timeout=40,
        check=False,
    )
    out, err = process.stdout, process.stderr
    assert (process.returncode, out) == (130, last)
    assert err.endswith("Aborted.\n")
    assert "Traceback" not in err


def test_a_process_of_others_is_left_alone():
    code = """
import signal
from hierbandits.cli.interruption import at_a_sudden_end, stopped_at_once
try:
    with stopped_at_once(), at_a_sudden_end(lambda: print("no")):
        signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("mine")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "mine\n"


def test_signals_are_heard_by_others_again():
    code = """
import signal
from hierbandits.cli.interruption import own_process, stopped_at_once
own_process()
with stopped_at_once():
    pass
print(signal.set_wakeup_fd(-1))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "-1\n"


@pytest.mark.parametrize(
    ("stop", "told"), [("KeyboardInterrupt", "Aborted.\n"), ("typer.Exit(130)", "")]
)
def test_what_must_be_done_first_is_done_and_nothing_after_it(stop, told):
    code = f"""
import atexit, typer
from hierbandits.cli.interruption import before_leaving, own_process
atexit.register(print, "late")
try:
    with before_leaving(lambda: print("not mine", flush=True)):
        raise typer.Exit(2)
except typer.Exit:
    print("goes on", flush=True)
own_process()
with before_leaving(lambda: print("first", flush=True)):
    raise {stop}
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "goes on\nfirst\n", told)


def test_a_notebook_goes_on_after_an_interrupt():
    code = """
from hierbandits.cli.interruption import before_leaving
try:
    with before_leaving(lambda: print("no")):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print("mine")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "mine\n"
