"""Kernels are compiled when they are first called, kept on disk, and announced once."""

import shutil
from pathlib import Path

import pytest
from support.processes import python

import hierbandits
from hierbandits.compiler import compiled

USE = (
    "import hierbandits as hb;"
    "agent = hb.Agent(hb.GaussianHierarchy.armed(2, hyper_std=1, task_std=1, noise_std=1), seed=0);"
    "d = agent.decide('t'); print(agent.reward(d.id, 1.0))"
)
NOTICE = "hierbandits: compiling kernels, once; later runs load them\n"


def test_import_compiles_nothing_and_the_first_use_says_so_once(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    imported = python("-c", "import hierbandits", **cache)
    assert (imported.returncode, imported.stderr) == (0, "")
    assert not list(tmp_path.rglob("*.nbc"))
    first = python("-c", USE, **cache)
    assert (first.returncode, first.stdout) == (0, "True\n")
    assert first.stderr == NOTICE
    again = python("-c", USE, **cache)
    assert (again.returncode, again.stdout, again.stderr) == (0, "True\n", "")


def _copy_of_the_package(folder):
    package = folder / "hierbandits"
    shutil.copytree(
        Path(hierbandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    return package


def test_a_change_of_any_kernel_compiles_again(tmp_path):
    """Kernels are compiled into each other, across files."""
    shared = _copy_of_the_package(tmp_path) / "kernels" / "prefetch.py"
    runs = [python("-c", USE, path=tmp_path) for _ in range(2)]
    shared.write_text(shared.read_text() + "\n")
    runs += [python("-c", USE, path=tmp_path) for _ in range(2)]
    assert [run.stdout for run in runs] == ["True\n"] * 4
    assert [run.stderr for run in runs] == [NOTICE, "", NOTICE, ""]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    package = _copy_of_the_package(tmp_path)
    for folder in {path.parent for path in package.rglob("*.py")}:
        (folder / "__pycache__").touch()  # a file where the cache's folder would be
    nowhere = "/proc/nowhere"  # not even root can write there
    places = ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME")
    used = python("-c", USE, path=tmp_path, **dict.fromkeys(places, nowhere))
    assert (used.returncode, used.stdout) == (0, "True\n"), used.stderr
    assert used.stderr == NOTICE


SCRIPT = """
import sys
import numpy as np
from numba import njit
from hierbandits.checks import first_outside
from hierbandits.compiler import compiled
from hierbandits.keyed_random import mix

@njit
def half(x):
    return x / 2

@compiled
def double(x):
    return x * 2

exec("def third(x): return x / 3", names := {"__name__": None})
half(1.0), double(1.0), njit(names["third"])(1.0)
print("before", file=sys.stderr)
mix(np.uint64(1)), first_outside(np.ones(2), 1.0)
print("after", file=sys.stderr)
"""


def test_the_notice_is_for_kernels_of_the_package_alone(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = python(script, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"before\n{NOTICE}after\n"


def test_a_compiled_function_is_the_function():
    def ratio(x, y):
        return x / y

    kernel = compiled(ratio)
    assert kernel.py_func is ratio
    assert kernel(3.0, 2.0) == 1.5
    assert kernel(1.0, 0.0) == float("inf")  # as numpy, and not an error as Python
    with pytest.raises(ZeroDivisionError):
        ratio(1.0, 0.0)
