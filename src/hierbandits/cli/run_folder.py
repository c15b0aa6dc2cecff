"""The folder of a command's report: it holds one run, and is not given to another unasked."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from hierbandits.cli.terminal import command_line, fail, report_folder
from hierbandits.reporting.report import Report
from hierbandits.reporting.report_folder import SETTINGS

OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace the report of another run in this folder.")
]


_NO_PART = ("out", "overwrite", "as_json", "quiet", "jobs", "backend", "agent")
"""The parameters of commands that change nothing of what a report says."""


class RunFolder:
    """Where a command leaves the report of a run.

    settings.json says which command it was, and with which options.  The same run may take the
    place of an earlier one; another run may with --overwrite alone.
    """

    def __init__(self, out: Path, context: typer.Context, *, overwrite: bool) -> None:
        given = {name: value for name, value in context.params.items() if name not in _NO_PART}
        self._out = out
        self._run = {"command": context.info_name}
        self._run |= {
            name: _plain(value) for name, value in given.items() if value not in (None, [], ())
        }
        earlier = _earlier_run(out)
        if earlier is not None and earlier != self._run and not overwrite:
            fail(
                f"--out must be a new folder, or hold the same run, got {out}, which holds "
                f"{_named(earlier, self._run)}: give another folder, or --overwrite"
            )

    @contextmanager
    def made(self) -> Iterator[None]:
        """Make the folder before the work; see `report_folder`."""
        with report_folder(self._out):
            yield

    def write(self, report: Report) -> Path:
        """Write a report and what run it is of; returns where the page is."""
        report.settings = report.settings | {"command": command_line(), "run": self._run}
        return report.write(self._out)


def _plain(value: Any) -> Any:
    """The value of an option as JSON has it."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value


def _earlier_run(out: Path) -> dict[str, Any] | None:
    """The run that a folder holds; None if it holds no report, an empty one if nobody says."""
    try:
        settings = json.loads((out / SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(settings, dict) or "digests" not in settings:
        return None
    run = settings.get("run")
    return run if isinstance(run, dict) else {}


def _named(earlier: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """What an earlier run was, as far as it differs from this one."""
    if not earlier:
        return "a report of another run"
    differing = [name for name in {**earlier, **run} if earlier.get(name) != run.get(name)]
    what = ", ".join(f"{name} = {earlier.get(name)!r:.200}" for name in differing)
    return f"a run with {what}"
