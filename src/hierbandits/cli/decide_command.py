"""The command `hierbandits decide`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.reading_options import Limit, limits_of
from hierbandits.cli.terminal import app, failing, need, say


@app.command()
def decide(
    agent: Annotated[Path, typer.Argument(help="The agent's file; see learn --agent.")],
    tasks: Annotated[Path, typer.Argument(help="A .parquet or .csv file, a row for each task.")],
    out: Annotated[Path, typer.Option(help="The new .parquet or .csv file of decisions.")],
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Column of tasks; task by default. Repeat the option where tasks have paths.",
        ),
    ] = None,
    eligible: Annotated[
        str | None,
        typer.Option(
            help="Column of the arms that a row may play: lists of names, a|b|c in a CSV file, or "
            "lists of lists of features. All of the agent's arms by default."
        ),
    ] = None,
    limit: Limit = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Decide for every row of a file of tasks, exactly once.

    hierbandits decide agent.hb tasks.parquet --out decisions-2026-11-16.parquet

    The file of decisions has the columns of the tasks, and four more: decision (an id), arm, \
propensity and decided_at. The agent's file is saved before: it knows what it has decided.

    An agent that was learned with --arm and --features reads the context of each row from the \
columns of these names.

    The same tasks for the same --out are one batch. Run the command again after a crash: what was \
decided is written, and nothing is decided twice. A file that holds other decisions is refused, so \
give each night's decisions a name of their own.
    """
    need("polars")
    from hierbandits.agent import decide_batch

    answer = Answer(as_json, quiet)
    with stopped_at_once(), failing():
        batch = decide_batch(
            agent,
            tasks,
            out,
            task=task or ["task"],
            eligible=eligible,
            limits=limits_of(limit),
            progress=answer.progress,
        )

    def show() -> None:
        if not batch.written:
            say(f"Decided before: {out} has these {batch.decisions:,} decisions already")
        elif batch.made_before:
            say(f"Decided before: {batch.decisions:,} decisions, written again to {out}")
        else:
            say(f"{batch.decisions:,} decisions, {batch.new_tasks:,} tasks are new: {out}")

    answer.give(lambda: batch, show)
