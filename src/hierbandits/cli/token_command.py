"""The commands `hierbandits token create`, `list` and `revoke`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.data_options import DataOption, StoreOption, data_place
from hierbandits.cli.terminal import PlainGroup, app, console, fail, failing, say
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from hierbandits.service.token_book import TokenBook

tokens = typer.Typer(
    cls=PlainGroup, no_args_is_help=True, help="Make, list and revoke tokens of the service."
)
app.add_typer(tokens, name="token")

NameArgument = Annotated[str, typer.Argument(help="The token's name, which is no secret.")]


@tokens.command()
def create(
    name: NameArgument,
    scope: Annotated[
        list[str],
        typer.Option(
            metavar="SCOPE", help="What it is good for: decide, reward, read or admin. Repeatable."
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="The policy that it is good for; all by default. Repeatable."
        ),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0, help="It expires then; never by default.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Print a link to the page in place of the token: where people reach the service.",
        ),
    ] = None,
    data: DataOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and print it, once: only its hash is kept.

    hierbandits token create web --data shop-data --scope decide --scope reward --policy banners

    A running service knows it within a second. From the first token on, all requests need one.

    A link to share the page, to look at only, until the token is revoked:

    hierbandits token create boss --data shop-data --scope read --link https://bandits.example
    """
    if link is not None and scope != ["read"]:
        fail(f"--scope must be read alone with --link, got {', '.join(scope)}")
    with failing():
        now = time.time()
        expires = None if days is None else now + days * 86_400
        if data is not None:
            data.mkdir(parents=True, exist_ok=True)
        with _tokens(data, store) as tokens_there:
            secret = tokens_there.create(name, scope, policy or None, now, expires)
    made = {"name": name, "token": secret}
    if link is not None:
        made["link"] = share_link(link, secret, policy or [])
    Answer(as_json, quiet=False).give(
        lambda: made, lambda: typer.echo(made.get("link", made["token"]))
    )


def share_link(url: str, secret: str, policies: list[str]) -> str:
    """A link to the page; browsers send what is behind "#" to nobody, so that no log has it."""
    where = f"/policy/{policies[0]}?token={secret}" if len(policies) == 1 else f"token={secret}"
    return f"{url.rstrip('/')}/dashboard#{where}"


@tokens.command("list")
def list_tokens(
    data: DataOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the tokens: their names and what they are good for."""
    with failing(), _tokens(data, store) as tokens_there:
        found = tokens_there.all()

    def rows() -> list[dict[str, Any]]:
        parts = ("name", "scopes", "policies", "created", "expires")
        return [{part: getattr(token, part) for part in parts} for token in found]

    def show() -> None:
        cells = [
            (
                token.name,
                ", ".join(token.scopes),
                "all" if token.policies is None else ", ".join(token.policies),
                "never" if token.expires is None else _day(token.expires),
            )
            for token in found
        ]
        if cells:
            head = ("token", "scopes", "policies", "expires")
            console.print(terminal_table(head, cells, right=()))
        else:
            say("No tokens: the service answers on this machine alone, and whoever asks")

    Answer(as_json, quiet).give(rows, show)


@tokens.command()
def revoke(
    name: NameArgument,
    data: DataOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a token useless, within a second also for a running service."""
    with failing(), _tokens(data, store) as tokens_there:
        tokens_there.revoke(name)
    Answer(as_json, quiet).give(lambda: {"revoked": name}, lambda: say(f"Token {name} is revoked"))


@contextmanager
def _tokens(data: Path | None, store: str | None) -> "Iterator[TokenBook]":
    with data_place(data, store) as place:
        if not place.folder.is_dir():
            fail(f"--data must be a folder, got {data}")
        found = place.tokens()
        yield found
        found.close()


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
