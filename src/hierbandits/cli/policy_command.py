"""The commands `hierbandits policy`: create, list, show, evaluate, export, import, delete."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.completion import policy_names
from hierbandits.cli.service_access import FolderOption, TokenOption, UrlOption, ask, write_new
from hierbandits.cli.terminal import PlainGroup, app, console, fail, failing, say
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from hierbandits.client import JudgedPolicy, RewardInterval

policy = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    help="Create, show, move and delete policies.",
)
app.add_typer(policy, name="policy")

NameArgument = Annotated[str, typer.Argument(help="The policy's name.")]


@policy.command()
def create(
    name: NameArgument,
    arm: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An arm of the policy. Repeatable.")
    ] = None,
    prior: Annotated[
        Path | None, typer.Option(help="The prior.json that hierbandits learn has written.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(help="A JSON file of settings, as the service takes them.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting, its value as JSON or text: floor=0.05, sticky=true. Repeatable.",
        ),
    ] = None,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Create a policy, or make a new version of it.

    hierbandits policy create banners --arm blue --arm green --set rewards=bernoulli

    A new version learns the whole log of the policy anew: nothing is forgotten. The same settings \
again change nothing.
    """
    given: dict[str, Any] = {} if settings is None else _object("--settings", settings)
    if arm:
        given["arms"] = arm
    if prior is not None:
        given["prior"] = _object("--prior", prior)
    given |= dict(setting(text) for text in change or ())
    made = ask(url, token, data, lambda client: client.put_policy(name, given))

    def show() -> None:
        what = "is new" if made.created else f"has version {made.version}"
        say(f"Policy {name} {what}")

    Answer(as_json, quiet).give(lambda: asdict(made), show)


@policy.command("list")
def list_policies(
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List the policies and what they have seen."""
    found = ask(url, token, data, lambda client: client.policies())

    def show() -> None:
        columns = ("version", "tasks", "rewards", "pending")
        rows = [(one.name, *(f"{getattr(one, name):,}" for name in columns)) for one in found]
        if rows:
            console.print(terminal_table(("policy", *columns), rows, right=(1, 2, 3, 4)))
        else:
            say("No policies yet: see hierbandits policy create --help")

    Answer(as_json, quiet).give(lambda: [asdict(one) for one in found], show)


@policy.command()
def show(
    name: NameArgument,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show a policy: its counts and its settings."""
    found = ask(url, token, data, lambda client: client.policy(name))

    def tell() -> None:
        for part in ("version", "tasks", "events", "rewards", "pending"):
            say(f"{part:8} {getattr(found, part):,}")
        if found.arms is not None:
            say(f"arms     {', '.join(map(str, found.arms))}")
        told = {key: value for key, value in found.settings.items() if value is not None}
        say(f"settings {json.dumps(told)}")

    Answer(as_json, quiet).give(lambda: asdict(found), tell)


@policy.command()
def evaluate(
    name: NameArgument,
    rule: Annotated[
        str | None,
        typer.Option(help="Another rule: HierTS, say.", autocompletion=policy_names),
    ] = None,
    prior: Annotated[
        Path | None, typer.Option(help="Another prior: what hierbandits learn has written.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another setting: floor=0.05, rewards=bernoulli, prior=null. Repeatable.",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="How often an interval is meant to cover the truth.")
    ] = 0.95,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Judge another prior or rule by the log of a policy, before you use it.

    hierbandits policy evaluate banners --rule HierTS --set floor=0.02

    The first sentence says whether it would have earned more than the policy did. The candidate \
learns from the earlier half of the log, and the later half judges it.
    """
    given: dict[str, Any] = {} if rule is None else {"rule": rule}
    if prior is not None:
        given["prior"] = _object("--prior", prior)
    given |= dict(setting(text) for text in change or ())
    found = ask(
        url, token, data, lambda client: client.evaluate(name, given, confidence=confidence)
    )

    def tell() -> None:
        say(f"{found.verdict}\n")
        columns = ("policy", "mean reward", "over the log", "over the best arm")
        rows = [
            (_title(one), *map(_shown, (one.reward, one.over_log, one.over_best_arm)))
            for one in found.policies
        ]
        console.print(terminal_table(columns, rows, right=(1, 2, 3)))
        for warning in found.warnings:
            say(f"Warning: {warning}")

    Answer(as_json, quiet).give(lambda: asdict(found), tell)


def _title(one: "JudgedPolicy") -> str:
    return one.policy if one.arms is None else f"{one.policy} ({', '.join(one.arms)})"


def _shown(one: "RewardInterval | None") -> str:
    """A number with its interval."""
    if one is None or one.value is None:
        return "–"
    if one.low is None or one.high is None:
        return f"{one.value:.4g}"
    return f"{one.value:.4g} ({one.low:.4g} to {one.high:.4g})"


@policy.command()
def export(
    name: NameArgument,
    out: Annotated[Path, typer.Option(help="The new file.")],
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a policy with its versions and its whole log to one file, for policy import."""
    write_new(out, lambda: ask(url, token, data, lambda client: client.export_policy(name)))
    Answer(as_json, quiet).give(
        lambda: {"policy": name, "file": str(out)}, lambda: say(f"Policy {name} is in {out}")
    )


@policy.command("import")
def import_policy(
    name: NameArgument,
    file: Annotated[
        Path, typer.Argument(help="What policy export, or learn --agent, has written.")
    ],
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Create a policy from a file, with all that it has learned.

    hierbandits policy import banners agent.hb

    The file is an export, or an agent: learn --agent has made one from a log.
    """
    with failing():
        content = file.read_bytes()
    ask(url, token, data, lambda client: client.import_policy(name, content))
    Answer(as_json, quiet).give(lambda: {"created": name}, lambda: say(f"Policy {name} is new"))


@policy.command()
def delete(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")] = False,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Delete a policy with its whole log. Nothing brings it back but an export or a backup."""
    if not yes:
        typer.confirm(f"Delete the policy {name} and its log for good?", abort=True)
    ask(url, token, data, lambda client: client.delete_policy(name))
    Answer(as_json, quiet).give(lambda: {"deleted": name}, lambda: say(f"Policy {name} is deleted"))


def _object(option: str, path: Path) -> dict[str, Any]:
    """The JSON object in the file of an option."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        fail(f"{option} must be a JSON file, got {path}: {error}")
    if not isinstance(found, dict):
        fail(f"{option} must hold a JSON object, got {found!r:.80}")
    return found


def setting(text: str) -> tuple[str, Any]:
    """A setting and its value, as --set has them."""
    name, mark, value = text.partition("=")
    if not name or not mark:
        fail(f"--set must be NAME=VALUE, got {text!r:.80}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
