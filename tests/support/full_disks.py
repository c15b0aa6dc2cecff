"""A service whose disk is full for a while."""

import os
import subprocess
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

from support.service_calls import Refused
from support.service_kills import KilledService


@contextmanager
def small_disk(path, megabytes=16):
    """A file system of this size at `path`; skips the test where nobody may mount one."""
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)]
    try:
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        reason = made.stderr.strip()
    except FileNotFoundError as error:
        made, reason = None, str(error)
    if made is None or made.returncode != 0:
        pytest.skip(f"a small disk needs the right to mount one: {reason}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path):
    """Write into a file until there is no room for one more byte."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            while True:
                try:
                    if file.write(bytes(size)) < size:
                        break
                except OSError:
                    break


def full_and_empty(disk, rounds, seed):
    """A full disk under load, room again, a kill; counts of what happened."""
    rng, counts = np.random.default_rng(seed), Counter()
    service = KilledService(disk / "data", seed)
    try:
        for _ in range(rounds):
            line = service.line()
            for _ in range(60):
                service.ask(rng, line)
            fill(disk / "filler")
            _ask_while_full(service, rng, line, counts)
            os.unlink(disk / "filler")
            counts["seconds until it went on"] = max(
                counts["seconds until it went on"], _until_it_goes_on(service, rng, line)
            )
            line.close()
            service.check()
            service.start_again()
            service.check()
            counts["full disks"] += 1
    finally:
        service.close()
    return counts + service.counts


def _ask_while_full(service, rng, line, counts):
    """Whatever changes something is answered 503; whatever reads goes on."""
    refused = 0
    for _ in range(5000):  # some room is left in the ledger's own files
        try:
            service.ask(rng, line)
            counts["changes stored on a full disk"] += 1
        except Refused as refusal:
            if refusal.status != 503:
                raise
            refused += 1
            assert line.get("/health") == {"status": "alive"}
            service.look(rng, line)
            counts["reads on a full disk"] += 1
        if refused == 40:
            break
    assert refused == 40
    counts["changes refused"] += refused


def _until_it_goes_on(service, rng, line):
    start = time.monotonic()
    while time.monotonic() < start + 60:
        try:
            service.ask(rng, line)
            return time.monotonic() - start
        except Refused as refusal:
            if refusal.status != 503:
                raise
            time.sleep(0.05)
    raise AssertionError("the service does not go on by itself")
