"""Every public name with hostile arguments, while kernels check the bounds of their arrays."""

import time
from collections import Counter

from support.checked_kernels import fuzz_surface

PIECE = 200.0  # seconds of one process
MOST = 10.0  # seconds of a call


def main(seconds):
    """Fuzz with one seed after another."""
    end, counts, reached, seed = time.monotonic() + seconds, Counter(), set(), 1000
    while (left := end - time.monotonic()) > 1:
        report = fuzz_surface(min(left, PIECE), seed, MOST)
        assert report["faults"] == {}, f"seed {seed}: {report['faults']}"
        assert report["nameless"] == {}, f"seed {seed}: {report['nameless']}"
        counts.update(report["counts"])
        reached.update(report["reached"])
        seed += 1
    names = {"names": len(reached | set(report["missed"])), "names reached": len(reached)}
    return dict(counts) | names
