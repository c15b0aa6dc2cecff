"""The command `hierbandits doctor`."""

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.data_options import DataOption, StoreOption, data_place
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.terminal import app, console, failing, say
from hierbandits.reporting.terminal_table import terminal_table


@app.command()
def doctor(
    data: DataOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check a data folder or a store: every checksum, every belief computed again from the log.

    hierbandits doctor --data shop-data

    It changes nothing. The status is 1 if something is wrong.
    """
    with stopped_at_once(), failing(), data_place(data, store) as place:
        from hierbandits.service.doctor import doctor as look

        report = look(place.folder, store=place.store)

    def show() -> None:
        columns = ("version", "events", "decisions", "rewards")
        rows = [(one.name, *(f"{getattr(one, name):,}" for name in columns))
                for one in report.policies]  # fmt: skip
        if rows:
            console.print(terminal_table(("policy", *columns), rows, right=(1, 2, 3, 4)))
        for fault in report.faults:
            say(f"wrong: {fault}")
        if report.is_sound and report.has_shared:
            say(
                "All that was checked is sound, and every belief is as the log has it. Rows of "
                "workers have no checksums: what follows from no other row was only read"
            )
        elif report.is_sound:
            say("Everything is as it was written, and every belief as the log has it")

    Answer(as_json, quiet).give(report.to_dict, show)
    if not report.is_sound:
        raise typer.Exit(1)
