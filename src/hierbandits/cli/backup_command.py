"""The command `hierbandits backup`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.serve_command import SERVER
from hierbandits.cli.terminal import app, fail, failing, in_one_line, need


@app.command()
def backup(
    data: Annotated[
        Path, typer.Option("--data", help="The service's data folder; it may run meanwhile.")
    ],
    out: Annotated[Path, typer.Option(help="The new folder that holds the copy.")],
) -> None:
    """Copy the data folder of a service, while it runs, and check the copy.

    hierbandits backup --data shop-data --out backups/2026-11-16

    The copy is a data folder: hierbandits serve --data takes it as it is.
    """
    need(*SERVER, extra="serve")
    from hierbandits.service.folder_backup import back_up

    with stopped_at_once(), failing():
        try:
            back_up(data, out)
        except RuntimeError as error:  # damage, or no room on the disk
            fail(in_one_line(error))
