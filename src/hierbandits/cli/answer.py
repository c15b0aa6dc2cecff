"""How a command answers: with tables for people, as JSON for programs, or not at all."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from hierbandits.reporting.plain_data import plain

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object in place of text and tables.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Print no text and no progress: errors alone.")
]


@dataclass(frozen=True, slots=True)
class Answer:
    """What --json and --quiet ask for.  Errors are lines of text on the standard error."""

    as_json: bool
    quiet: bool

    @property
    def progress(self) -> bool | None:
        """Whether bars show progress: on a terminal (None), or nowhere."""
        return False if self.quiet else None

    def give(self, data: Callable[[], Any], show: Callable[[], object]) -> None:
        """Print the data as JSON, or let people see the same."""
        if self.as_json:
            typer.echo(json.dumps(plain(data()), indent=2, allow_nan=False))
        elif not self.quiet:
            show()
