"""A file of one's own: policies, worlds and experiments that commands take by name."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.terminal import fail

if TYPE_CHECKING:
    pass

FromOption = Annotated[
    Path | None,
    typer.Option(
        "--from",
        help="A Python file of yours: its POLICIES, WORLDS and EXPERIMENTS, which map names to "
        "recipes, environments and experiments, are known by their names too.",
    ),
]


class OwnFile:
    """All policies, worlds and experiments by name: the package's, and those of a file.

    The file's tables are called POLICIES, WORLDS and EXPERIMENTS; any may be missing.
    """

    def __init__(self, path: Path | None) -> None:
        from hierbandits import POLICIES
        from hierbandits.environments import Environment
        from hierbandits.experiments import EXPERIMENTS, WORLDS, Experiment
        from hierbandits.policies import Recipe

        module = None if path is None else _loaded(path)
        self._path = path
        self.policies: dict[str, Recipe] = dict(POLICIES)
        self.worlds: dict[str, Environment] = dict(WORLDS)
        self.experiments: dict[str, Experiment] = dict(EXPERIMENTS)
        if module is None:
            return
        self._add(module, "POLICIES", self.policies, lambda value: isinstance(value, Recipe))
        self._add(module, "WORLDS", self.worlds, lambda value: hasattr(value, "worlds"))
        self._add(
            module, "EXPERIMENTS", self.experiments, lambda value: isinstance(value, Experiment)
        )
        if not any(hasattr(module, name) for name in ("POLICIES", "WORLDS", "EXPERIMENTS")):
            fail(f"--from must have POLICIES, WORLDS or EXPERIMENTS, got {path} without any")

    def _add(self, module: Any, name: str, known: dict[str, Any], fits: Any) -> None:
        table = getattr(module, name, {})
        if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
            fail(f"--from must have {name} as a mapping from names, got {table!r:.80}")
        for key, value in table.items():
            if key in known and known[key] is not value:
                fail(f"--from must have names of its own in {name}, got {key!r}, which is taken")
            if not fits(value):
                fail(f"--from must have other values in {name}, got {value!r:.80} as {key!r}")
            known[key] = value

    def chosen(self, option: str, names: list[str] | None, known: Mapping[str, Any]) -> Any:
        """The values of names that an option was given, also separated by commas."""
        each = [name.strip() for given in names or () for name in given.split(",")]
        for name in each:
            if name not in known:
                fail(f"{option} must be among {', '.join(known)}, got {name!r}")
        return {name: known[name] for name in each}


def _loaded(path: Path) -> Any:
    """The file as a module that other processes can import too: its folder is where they look."""
    file = path.resolve()
    if not file.is_file() or file.suffix != ".py" or not file.stem.isidentifier():
        fail(f"--from must be a Python file, with a name such as my_policies.py, got {path}")
    sys.path.append(str(file.parent))
    spec = importlib.util.find_spec(file.stem)
    if spec is None or spec.origin != str(file):
        fail(f"--from must have a name that no other module has, got {path}: rename it")
    try:
        return importlib.import_module(file.stem)
    except Exception as error:
        calls = traceback.extract_tb(error.__traceback__)
        lines = [call.lineno for call in calls if call.filename == str(file)]
        line = f", line {lines[-1]}" if lines else ""
        what = " ".join(f"{type(error).__name__}: {error}".split())
        fail(f"--from must run without errors, got {path}{line}: {what}")
