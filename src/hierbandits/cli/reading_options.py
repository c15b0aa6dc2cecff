"""The options that say how a log is read, the same for every command that reads one."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.spelling import feature_columns, names_as_in_log
from hierbandits.types import Name

if TYPE_CHECKING:
    from hierbandits import Log, Reading

LogFiles = Annotated[
    list[str],
    typer.Argument(
        help="A .parquet or .csv file with a row for each decision. Also .tsv, .csv.gz, a folder, "
        "a pattern, several files, or a URL as s3://bucket/log/.",
        show_default=False,
    ),
]
Decision = Annotated[
    str | None,
    typer.Option(
        help="Column of decision ids. Rows that repeat an earlier row and its id are left out."
    ),
]
Rewards = Annotated[
    str | None,
    typer.Option(
        help="The family of rewards: bernoulli (0 or 1), poisson (counts), binomial (as bernoulli: "
        "a row is one trial) or gaussian (any numbers, the default)."
    ),
]
MostArms = Annotated[
    int,
    typer.Option(min=1, help="Logs with more arms are refused: they take many minutes."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=NUMBER",
        help="Another limit, as tasks=20000000: of tasks, arms, pending, name_length, cells or "
        "fit. What is beyond is refused with its size. Repeat the option for more.",
    ),
]
Strip = Annotated[bool, typer.Option("--strip", help="Remove spaces around text.")]
MergeNames = Annotated[
    bool,
    typer.Option(
        "--merge-names", help="Names that differ in case, spaces or forms of letters are one."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", help="Text that stands for a missing cell, such as NA. Repeat it for more."
    ),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows that lack a cell.")
]
TimeFormat = Annotated[
    str | None, typer.Option(help="Form of times that are not ISO dates: '%m/%d/%Y'.")
]
Separator = Annotated[
    str | None, typer.Option(help="Separator of a CSV file. By default what its header has.")
]
Decimal = Annotated[str, typer.Option(help="Decimal mark of a CSV file's numbers: . or ,")]

Thousands = Annotated[
    str | None, typer.Option(help="Mark between thousands of a CSV file's numbers: , in 1,234.5")
]


def limits_of(given: Sequence[str] | None) -> dict[str, int]:
    """The limits that are given, by name."""
    from hierbandits.logs.limits import LIMITS

    limits = {}
    for text in given or ():
        name, _, number = text.partition("=")
        if name not in LIMITS.to_dict() or not re.fullmatch("[0-9]{1,18}", number):
            names = ", ".join(LIMITS.to_dict())
            raise ValueError(f"--limit must be NAME=NUMBER, one of {names}, got {text!r:.80}")
        limits[name] = int(number)
    return limits


def source_of(files: Sequence[str]) -> Any:
    """One path as it is, several as a list."""
    return files[0] if len(files) == 1 else list(files)


def reading_of(
    *,
    strip: bool,
    merge_names: bool,
    missing: Sequence[str] | None,
    drop_missing: bool,
    decision: str | None,
    separator: str | None,
    decimal: str,
    thousands: str | None = None,
    time_format: str | None = None,
) -> "Reading":
    """The options as one value; a decision's id tells which rows are copies."""
    from hierbandits import Reading

    return Reading(
        strip=strip,
        merge_names=merge_names,
        missing=tuple(missing or ()),
        drop_missing=drop_missing,
        drop_repeated=decision is not None,
        time_format=time_format,
        separator=separator,
        decimal=decimal,
        thousands=thousands,
    )


def opened_log(
    files: Sequence[str],
    columns: dict[str, Any],
    arms: Sequence[Name] | None,
    reading: "Reading",
) -> "Log":
    """The log, with names and features as its columns hold them."""
    from hierbandits import Log

    source = source_of(files)
    if columns.get("features") is not None:
        columns = columns | {"features": feature_columns(source, columns["features"], reading)}
    named = names_as_in_log(source, columns.get("arm"), arms, reading)
    return Log.of(source, columns, named, reading)
