"""The whole suite while kernels check the bounds of their arrays."""

import re
from pathlib import Path

from support.checked_kernels import SETTINGS
from support.processes import python

ROOT = Path(__file__).parents[2]


def main(seconds):
    """Run all tests once, however long it takes."""
    words = ("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", str(ROOT / "tests"))
    done = python(*words, path=ROOT / "tests", timeout=None, **SETTINGS)
    assert done.returncode == 0, done.stdout[-3000:]
    return {"tests passed": int(re.search(r"(\d+) passed", done.stdout)[1])}
