"""The command `hierbandits log export`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.service_access import FolderOption, TokenOption, UrlOption, ask, write_new
from hierbandits.cli.terminal import PlainGroup, app, say

log = typer.Typer(cls=PlainGroup, no_args_is_help=True, help="The logs of the service's policies.")
app.add_typer(log, name="log")


@log.callback()
def logs() -> None:
    """The logs of the service's policies."""


@log.command()
def export(
    policy: Annotated[str, typer.Argument(help="The policy's name.")],
    out: Annotated[Path, typer.Option(help="The new .parquet file.")],
    every: Annotated[
        bool, typer.Option("--every", help="Also decisions that have no reward yet.")
    ] = False,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the decisions of a policy and their rewards to a Parquet file.

    hierbandits log export banners --out log.parquet

    hierbandits learn and evaluate read it: the columns are task, arm, reward, propensity, \
eligible and more.
    """
    write_new(out, lambda: ask(url, token, data, lambda c: c.export_log(policy, every=every)))
    Answer(as_json, quiet).give(
        lambda: {"policy": policy, "file": str(out)}, lambda: say(f"The log is in {out}")
    )
