"""The command `hierbandits reward`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.terminal import app, console, failing, need
from hierbandits.reporting.terminal_table import terminal_table

KINDS = {
    "learned": "new rewards",
    "replaced": "of these: in place of a default",
    "repeated": "came before: skipped",
    "forgotten": "the decision expired, or was settled long ago: skipped",
    "unknown": "of decisions that this agent has never made: skipped",
    "missing": "no reward yet: skipped",
}


@app.command()
def reward(
    agent: Annotated[Path, typer.Argument(help="The agent's file.")],
    rewards: Annotated[
        Path, typer.Argument(help="A .parquet or .csv file of decision ids and rewards.")
    ],
    decision: Annotated[str, typer.Option(help="Column of decision ids.")] = "decision",
    value: Annotated[
        str, typer.Option("--reward", help="Column of rewards; an empty cell is no reward yet.")
    ] = "reward",
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            help="Skip rewards of decisions that this agent has never made. They are refused else.",
        ),
    ] = False,
    expire_days: Annotated[
        float | None,
        typer.Option(
            min=0, help="Then give up waiting for rewards of decisions that are older, in days."
        ),
    ] = None,
    default: Annotated[
        float | None,
        typer.Option(
            help="With --expire-days: their reward until their own comes. Forgotten by default."
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn the rewards of decisions from a file, each exactly once.

    hierbandits reward agent.hb rewards.parquet

    Rewards may come late, in any order and more than once: one that was learned before is \
skipped. So the same file may be given again, or a file that grows. If a decision gets a second \
value, or was never made by this agent, nothing of the file is learned.

    The agent's file is saved once, at the end.
    """
    need("polars")
    from hierbandits.agent import reward_batch

    answer = Answer(as_json, quiet)
    with stopped_at_once(), failing():
        batch = reward_batch(
            agent,
            rewards,
            decision=decision,
            reward=value,
            skip_unknown=skip_unknown,
            expire_days=expire_days,
            default=default,
            progress=answer.progress,
        )

    def show() -> None:
        rows = [(f"{getattr(batch, kind):,}", kind, words) for kind, words in KINDS.items()]
        rows = [row for row in rows if row[0] != "0" or row[1] == "learned"]
        if batch.expired:
            rows.append((f"{batch.expired:,}", "expired", "decisions that are waited for no more"))
        rows.append((f"{batch.pending:,}", "pending", "decisions that await their reward"))
        console.print(terminal_table(("rows", "", ""), rows, right=(0,)))

    answer.give(lambda: batch, show)
