"""The commands `hierbandits rollout`: show, start, hold, resume, rollback, promote and audit."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.policy_command import NameArgument, setting
from hierbandits.cli.service_access import FolderOption, TokenOption, UrlOption, ask
from hierbandits.cli.terminal import PlainGroup, app, console, fail, say
from hierbandits.reporting.rounding import in_percent
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from hierbandits.client import RolloutInfo

rollout = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    help="Let a policy decide for more and more tasks, stop it, and see who did what.",
)
app.add_typer(rollout, name="rollout")

ReasonOption = Annotated[str, typer.Option(help="Why, for the audit log.")]

_STEP = re.compile(r"([0-9]*\.?[0-9]+)(?::([0-9]*\.?[0-9]+)([smhd]))?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@rollout.command()
def show(
    name: NameArgument,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show where a rollout stands, and what its guardrails and its sample ratio say."""
    found = ask(url, token, data, lambda client: client.rollout(name))
    Answer(as_json, quiet).give(lambda: asdict(found), lambda: _tell(found))


@rollout.command()
def start(
    name: NameArgument,
    step: Annotated[
        list[str],
        typer.Option(
            metavar="SHARE[:TIME]",
            help="A share of tasks, and for how long: 0.05:1h, 0.5:2d, 1. In order; repeatable.",
        ),
    ],
    reason: ReasonOption = "",
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let a policy decide for a growing share of tasks; the others have the control arm.

    hierbandits rollout start banners --step 0.05:1h --step 0.5:1d --step 1

    A task that the policy decides for stays with it as the share grows. The last step stays.
    """
    steps = [_step(text) for text in step]
    found = ask(url, token, data, lambda client: client.start_rollout(name, steps, reason))
    Answer(as_json, quiet).give(lambda: asdict(found), lambda: _tell(found))


@rollout.command()
def hold(
    name: NameArgument,
    reason: ReasonOption = "",
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Stay at the share that a ramp has reached."""
    found = ask(url, token, data, lambda client: client.change_rollout(name, "hold", reason))
    Answer(as_json, quiet).give(lambda: asdict(found), lambda: _tell(found))


@rollout.command()
def resume(
    name: NameArgument,
    reason: ReasonOption = "",
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Go on with a ramp that is held."""
    found = ask(url, token, data, lambda client: client.change_rollout(name, "resume", reason))
    Answer(as_json, quiet).give(lambda: asdict(found), lambda: _tell(found))


@rollout.command()
def rollback(
    name: NameArgument,
    reason: ReasonOption = "",
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Give all tasks the control arm, or the version before a candidate, from now on."""
    found = ask(url, token, data, lambda client: client.change_rollout(name, "rollback", reason))
    Answer(as_json, quiet).give(lambda: asdict(found), lambda: _tell(found))


@rollout.command()
def promote(
    name: NameArgument,
    next_step: Annotated[
        Literal["evaluate", "shadow", "ramp", "drop", "show"],
        typer.Argument(help="The step of the candidate; show tells where it stands."),
    ] = "show",
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="To evaluate: a setting of the candidate, as rule=HierTS. Repeatable.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(metavar="SHARE[:TIME]", help="To ramp: as of rollout start. Repeatable."),
    ] = None,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Bring a candidate into a policy: evaluate it, shadow it, ramp it.

    hierbandits rollout promote banners evaluate --set rule=HierTS

    hierbandits rollout promote banners shadow

    hierbandits rollout promote banners ramp --step 0.05:1h --step 1

    A step that comes too early is refused, with the one that is next.
    """
    given = dict(setting(text) for text in change) if change else None
    steps = [_step(text) for text in step or ()]
    found = ask(
        url, token, data,
        lambda client: client.promotion(name) if next_step == "show"
        else client.promote(name, next_step, candidate=given, steps=steps),
    )  # fmt: skip

    def tell() -> None:
        say("No candidate" if found.step is None else f"The candidate has reached: {found.step}")
        say(f"Next: {found.next}")
        if found.verdict is not None:
            say(found.verdict)
        if found.shadow is not None:
            say(f"{found.shadow} would have done the same in {found.agreed:,} of {found.shown:,}")

    Answer(as_json, quiet).give(lambda: asdict(found), tell)


@rollout.command()
def audit(
    name: NameArgument,
    limit: Annotated[int, typer.Option(min=1, help="How many changes, the last ones.")] = 100,
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List who changed what and when, the last change first."""
    page = ask(url, token, data, lambda client: client.audit(name, limit=limit))

    def tell() -> None:
        rows = [
            (_when(one["time"]), one["what"], one["by"] or "not known", _details(one))
            for one in page.changes
        ]
        console.print(terminal_table(("when", "what", "by", ""), rows, right=()))

    Answer(as_json, quiet).give(lambda: asdict(page), tell)


def _tell(found: "RolloutInfo") -> None:
    say(
        f"The rollout is {found.phase!r}: the policy decides for {in_percent(found.share)} of tasks"
    )
    if found.previous is not None:
        say(f"Version {found.previous} decides for the others, while a candidate is ramped")
    if found.next_step is not None:
        share = found.steps[found.step + 1]["share"]
        say(f"The next step, {in_percent(share)}, begins at {_when(found.next_step)}")
    rows = [
        (
            one["name"] + (" against control" if one["against"] == "control" else ""),
            f"at most {one['at_most']}" if one["at_most"] is not None else
            f"at least {one['at_least']}",
            f"{one['count']:,}",
            "" if one["mean"] is None else f"{one['mean']:.4g}",
            in_percent(min(one["evidence"] / one["needed"], 1)),
        )
        for one in found.guardrails
    ]  # fmt: skip
    if rows:
        columns = ("guardrail", "bound", "values", "mean", "evidence")
        console.print(terminal_table(columns, rows, right=(2, 3, 4)))
    ratio = found.sample_ratio
    if ratio is not None:
        seen = [
            (str(one["arm"]), f"{one['seen']:,}", f"{one['expected']:,.1f}")
            for one in ratio["arms"]
        ]
        console.print(terminal_table(("arm", "seen", "expected"), seen, right=(1, 2)))
        if ratio["is_off"]:
            say("Exposures of some arm are missing")


def _step(text: str) -> tuple[float, float | None]:
    match = _STEP.fullmatch(text)
    if match is None:
        fail(f"--step must be SHARE or SHARE:TIME, as 0.05:1h, got {text!r:.80}")
    return float(match[1]), None if match[2] is None else float(match[2]) * _SECONDS[match[3]]


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _details(change: Mapping[str, Any]) -> str:
    """What else is known of a change."""
    known = {k: v for k, v in change.items() if k not in ("event", "time", "what", "by")}
    return ", ".join(f"{name} {_plain(value)}" for name, value in known.items())


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
