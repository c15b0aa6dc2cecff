"""The front of the package: what it shows, and what it does not import."""

import importlib

from support.processes import python

import hierbandits as hb


def test_the_public_names_are_sorted_and_there():
    constants = [name for name in hb.__all__ if name.isupper()]
    classes = [name for name in hb.__all__ if name[0].isupper() and name not in constants]
    functions = [name for name in hb.__all__ if name[0].islower()]
    assert hb.__all__ == sorted(constants) + sorted(classes) + sorted(functions)
    for name in hb.__all__:
        value = getattr(importlib.import_module("hierbandits"), name)
        assert name == "POLICIES" or value.__doc__, f"{name} has no docstring"


def test_dir_shows_the_public_names_alone():
    assert set(dir(hb)) == {*hb.__all__, "__doc__", "__version__"}
    names = {}
    exec("from hierbandits import *", names)
    assert set(names) - {"__builtins__"} == set(hb.__all__)


def test_the_core_imports_nothing_but_numpy_scipy_and_numba():
    code = "import sys, hierbandits; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = python("-c", code).stdout
    assert "'hierbandits'" in loaded
    for heavy in ("matplotlib", "polars", "typer", "rich", "pandas"):
        assert f"'{heavy}'" not in loaded
