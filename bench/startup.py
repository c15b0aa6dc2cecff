"""What a new process pays: imports, and compiling when nothing is kept on disk yet."""

import os
import subprocess
import sys
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from bench.timing import best

_TIMED = """
import time
{before}
start = time.perf_counter()
{timed}
print(time.perf_counter() - start)
"""
_PREPARE = """
import hierbandits as hb, numpy as np
one = np.eye(2)
prior = hb.GaussianHierarchy(hyper_mean=np.zeros(2), hyper_cov=one, task_cov=one, noise_std=1.0)
"""
_FIRST_USE = """
agent = hb.Agent(prior, seed=0)
agent.reward(agent.decide("first", one).id, 1.0)
"""


@dataclass(frozen=True, slots=True)
class Startup:
    """Seconds in a new process."""

    import_numba: float
    import_hierbandits: float  # with numba
    first_use_compiling: float
    first_use_cached: float


def startup(times: int) -> Startup:
    """The best of some processes, and one that compiles into an empty folder."""
    imports = best(
        {
            "import_numba": lambda: _seconds("", "import numba"),
            "import_hierbandits": lambda: _seconds("", "import hierbandits"),
        },
        times,
    )
    with TemporaryDirectory() as empty:
        compiling = _seconds(_PREPARE, _FIRST_USE, cache=empty)
        cached = _seconds(_PREPARE, _FIRST_USE, cache=empty)
    return Startup(first_use_compiling=compiling, first_use_cached=cached, **imports)


def _seconds(before: str, timed: str, cache: str | None = None) -> float:
    """The time of some lines in a process of their own."""
    environment = os.environ if cache is None else os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(before=before, timed=timed)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)
