"""Python and the command line, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("hierbandits")


def python(*arguments, path=None, **environment):
    """Run Python with these arguments; `path` comes first where modules are looked for."""
    return _run([sys.executable, *arguments], path, environment)


def command(*arguments, path=None, **environment):
    """Run the command `hierbandits`."""
    return _run([COMMAND, *arguments], path, environment)


def _run(words, path, environment):
    folders = [str(path)] if path else []
    folders += filter(None, [os.environ.get("PYTHONPATH")])
    settings = {"PYTHONPATH": os.pathsep.join(folders), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        words,
        env={**os.environ, **settings, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
