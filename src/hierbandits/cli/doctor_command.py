"""The command `hierbandits doctor`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.serve_command import SERVER
from hierbandits.cli.terminal import app, console, failing, need, say
from hierbandits.reporting.terminal_table import terminal_table


@app.command()
def doctor(
    data: Annotated[
        Path, typer.Option("--data", help="The service's data folder; it may run meanwhile.")
    ],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a data folder: every checksum, and every belief computed again from the log.

    hierbandits doctor --data shop-data

    It changes nothing. The status is 1 if something is wrong.
    """
    need(*SERVER, extra="serve")
    from hierbandits.service.doctor import doctor as look

    with stopped_at_once(), failing():
        report = look(data)

    def show() -> None:
        columns = ("version", "events", "decisions", "rewards")
        rows = [(one.name, *(f"{getattr(one, name):,}" for name in columns))
                for one in report.policies]  # fmt: skip
        if rows:
            console.print(terminal_table(("policy", *columns), rows, right=(1, 2, 3, 4)))
        for fault in report.faults:
            say(f"wrong: {fault}")
        if report.is_sound:
            say("Everything is as it was written, and every belief as the log has it")

    Answer(as_json, quiet).give(report.to_dict, show)
    if not report.is_sound:
        raise typer.Exit(1)
