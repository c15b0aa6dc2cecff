"""The command `hierbandits inspect`."""

from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.reading_options import (
    Decimal,
    Decision,
    DropMissing,
    LogFiles,
    MergeNames,
    Missing,
    Separator,
    Strip,
    Thousands,
    TimeFormat,
    reading_of,
    source_of,
)
from hierbandits.cli.spelling import feature_columns, names_as_in_log
from hierbandits.cli.terminal import app, console, fail, need


@app.command()
def inspect(
    log: LogFiles,
    task: Annotated[str | None, typer.Option(help="Column of tasks: stores, users, wards.")] = None,
    reward: Annotated[str | None, typer.Option(help="Column of rewards.")] = None,
    arm: Annotated[str | None, typer.Option(help="Column of the arms that were played.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="With --arm: columns of the context, as age,city. Without: columns of features.",
        ),
    ] = None,
    propensity: Annotated[
        str | None, typer.Option(help="Column of probabilities: how likely each choice was.")
    ] = None,
    eligible: Annotated[
        str | None, typer.Option(help="Column of eligible arms: lists, or a|b|c in a CSV file.")
    ] = None,
    time: Annotated[str | None, typer.Option(help="Column of times.")] = None,
    population: Annotated[str | None, typer.Option(help="Column of populations.")] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT", help="Name of an arm. Repeat the option for all arms that may occur."
        ),
    ] = None,
    decision: Decision = None,
    strip: Strip = False,
    merge_names: MergeNames = False,
    missing: Missing = None,
    drop_missing: DropMissing = False,
    time_format: TimeFormat = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look at a log before anything is learned from it: what it holds, and what is wrong with it.

    hierbandits inspect log.csv

    lists the columns and proposes which of them may be tasks, arms and rewards. With their names,

    hierbandits inspect log.csv --task store --arm promo --reward revenue

    every cell is looked at, and all problems are told at once: their rows, what they do to the \
answer, and the command that goes on.

    The exit status is 0 if the log is read as it is, 1 if it has problems that stop, and 2 if \
there is no such log or column.
    """
    need("polars")
    from hierbandits import inspect as inspected

    source = source_of(log)
    try:
        reading = reading_of(
            strip=strip, merge_names=merge_names, missing=missing, drop_missing=drop_missing,
            decision=decision, separator=separator, decimal=decimal,
            thousands=thousands, time_format=time_format,
        )  # fmt: skip
        with stopped_at_once():
            inspection = inspected(
                source, task=task, reward=reward, arm=arm,
                features=feature_columns(source, features or None, reading),
                propensity=propensity, eligible=eligible, time=time, population=population,
                decision=decision, arms=names_as_in_log(source, arm, arms or None, reading),
                reading=reading,
            )  # fmt: skip
    except (ValueError, OSError) as error:
        fail(" ".join(str(error).split()))
    Answer(as_json, quiet).give(inspection.to_dict, lambda: inspection.show(console))
    raise typer.Exit(0 if inspection.is_sound else 1)
