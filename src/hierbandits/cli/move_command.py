"""The command `hierbandits move`."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.data_options import StoreOption, data_place
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.terminal import app, console, fail, failing, in_one_line, say
from hierbandits.reporting.terminal_table import terminal_table


@app.command()
def move(
    data: Annotated[Path, typer.Option("--data", help="The data folder.")],
    to: Annotated[
        Literal["store", "folder"], typer.Option(help="Where all policies and tokens are to be.")
    ],
    store: StoreOption = None,
    shared: Annotated[
        bool,
        typer.Option("--shared", help="To or from the policies that workers of a store share."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Move what a service knows from a data folder to a PostgreSQL database, or back.

    hierbandits move --data shop-data --to store --store postgresql://host/shop

    With --shared the policies of the database are those of `serve --shared`, and every decision \
and reward is compared.

    No service may run on either. The target must be empty; after an interruption, the same \
command goes on. Every event is compared in the end. The source stays as it is: delete it when \
you are sure, and do not serve both.
    """
    if store is None:
        fail("--store must be given, a database")
    with stopped_at_once(), failing(), data_place(data, store) as place:
        from hierbandits.service.data_place import DataPlace
        from hierbandits.service.ledger_move import move_ledgers
        from hierbandits.service.shared_move import move_to_folder, move_to_workers

        folder, is_there = DataPlace(data), to == "store"
        source, target = (folder, place) if is_there else (place, folder)
        move_shared = move_to_workers if is_there else move_to_folder
        try:
            moved = (move_shared if shared else move_ledgers)(source, target)
        except RuntimeError as error:  # one of them is served, or damaged
            fail(in_one_line(error))

    def told() -> dict[str, Any]:
        names = ("name", "versions", "events", "was_there")
        rows = [{name: getattr(one, name) for name in names} for one in moved]
        return {"from": str(source), "to": str(target), "policies": rows}

    def show() -> None:
        rows = [(one.name, f"{one.versions:,}", f"{one.events:,}") for one in moved]
        if rows:
            console.print(terminal_table(("policy", "versions", "events"), rows, right=(1, 2)))
        compared = "decision by decision" if shared else "event by event"
        say(f"All of {source} is in {target}, {compared}")

    Answer(as_json, quiet).give(told, show)
