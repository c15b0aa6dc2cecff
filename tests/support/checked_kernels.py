"""Python processes whose kernels check the bounds of every array."""

import json
from pathlib import Path

from support.processes import python

CACHE = Path(__file__).parents[2] / ".checked_kernels"
"""Where these kernels are kept: numba would take them for the usual ones."""

SETTINGS = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(CACHE)}


def fuzz_surface(seconds, seed, most, least=0):
    """What a fuzz of the public surface reports; a call may take `most` seconds.

    It makes `least` calls, however slow the machine is.
    """
    words = ("-X", "faulthandler", "-m", "support.surface_fuzz", seconds, seed, most, least)
    done = python(
        *map(str, words), path=Path(__file__).parents[1], timeout=seconds + 900, **SETTINGS
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-3000:]}"
    return json.loads(done.stdout)
