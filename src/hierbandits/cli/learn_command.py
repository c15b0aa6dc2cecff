"""The command `hierbandits learn`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.backend_option import BackendOption, need_backend, own_cluster
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.reading_options import (
    Decimal,
    Decision,
    DropMissing,
    Limit,
    LogFiles,
    MergeNames,
    Missing,
    MostArms,
    Rewards,
    Separator,
    Strip,
    Thousands,
    TimeFormat,
    limits_of,
    opened_log,
    reading_of,
)
from hierbandits.cli.run_folder import OverwriteOption, RunFolder
from hierbandits.cli.terminal import app, console, fail, failing, need, say

if TYPE_CHECKING:
    from hierbandits import LearningReport, Limits


@app.command()
def learn(
    call: typer.Context,
    log: LogFiles,
    task: Annotated[str, typer.Option(help="Column of tasks: stores, users, wards.")],
    reward: Annotated[str, typer.Option(help="Column of rewards, which are numbers.")],
    arm: Annotated[str | None, typer.Option(help="Column of the arms that were played.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="With --arm: columns of the context, numbers or text, as age,city. Without: "
            "columns of features, or one of lists. Commas between them, or repeat the option.",
        ),
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="Column of populations. Each has a shared mean of its own.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times, to see whether early and late rows differ.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Without --arm: a feature that describes who comes, and cannot be chosen. Repeat "
            "the option for each; the promises offer the other features.",
        ),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Name of an arm. Repeat the option to fix all arms and their order.",
        ),
    ] = None,
    structure: Annotated[
        str,
        typer.Option(
            help="Form of the covariances: scalar, diagonal, common, full or low-rank. By default "
            "the one that the log supports best."
        ),
    ] = "auto",
    rank: Annotated[int, typer.Option(min=1, help="Rank of low-rank covariances.")] = 1,
    noise_std: Annotated[
        float | None, typer.Option(help="Noise of a reward. Learned by default.")
    ] = None,
    rewards: Rewards = None,
    held_out: Annotated[
        float, typer.Option(help="Share of rows that predictions are checked on. 0 for no check.")
    ] = 0.2,
    horizon: Annotated[
        int | None,
        typer.Option(min=1, help="Rounds that promises are for. A task's typical rows by default."),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            min=0, help="Simulated worlds, at least 2, to see what the start promises. 0 for none."
        ),
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    most_arms: MostArms = 1000,
    limit: Limit = None,
    decision: Decision = None,
    strip: Strip = False,
    merge_names: MergeNames = False,
    missing: Missing = None,
    drop_missing: DropMissing = False,
    time_format: TimeFormat = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    agent: Annotated[
        Path | None,
        typer.Option(help="A new file, agent.hb say, for an agent that has learned the log."),
    ] = None,
    backend: BackendOption = "local",
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("results/learn"),
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn a prior from past rewards, and whether tasks should share what they learn.

    hierbandits learn log.parquet --task store --arm promo --reward revenue --agent agent.hb

    If the best arm depends on who comes, name columns that tell: --features age,city. An encoder \
makes features of them for each arm, and the agent keeps it.

    The log has a row for each past decision. The report answers five questions. How similar are \
tasks? Does a hierarchy fit better than one pooled model, or than independent tasks? Which tasks \
stand out? Do predictions of held-out rows hold? What regret does an agent promise that starts \
from this log?

    The folder also has start.hb, from which an agent starts: it has learned the log. With --agent \
there is such an agent, in a file of its own: decide and reward take it.
    """
    from hierbandits import Limits, learn_prior
    from hierbandits.reporting.progress import progress_bar

    need("matplotlib", "polars")
    need_backend(backend)
    answer = Answer(as_json, quiet)
    folder = RunFolder(out, call, overwrite=overwrite)
    if agent is not None:
        _check_new(agent)
    with own_cluster(backend), stopped_at_once(), folder.made(), failing():
        reading = reading_of(
            strip=strip, merge_names=merge_names, missing=missing, drop_missing=drop_missing,
            decision=decision, separator=separator, decimal=decimal,
            thousands=thousands, time_format=time_format,
        )  # fmt: skip
        columns = {
            "task": task, "reward": reward, "arm": arm, "features": features or None,
            "population": population, "decision": decision, "time": time,
        }  # fmt: skip
        limits = Limits(**{"fit_arms": most_arms} | limits_of(limit))
        _, report = learn_prior(
            opened_log(log, columns, arms or None, reading),
            context=context or None,
            structure=structure,  # type: ignore[arg-type]  # checked when fitting
            rank=rank,
            noise_std=noise_std,
            rewards=rewards,
            held_out=held_out,
            horizon=horizon,
            runs=runs,
            seed=seed,
            limits=limits,
            backend=backend,
            progress=answer.progress,
        )
        with progress_bar("Writing the report", None, answer.progress):
            page = folder.write(report.report())
            if agent is not None:
                _make_agent(report, agent, seed, limits)
    files = {"page": str(page), "start": str(out / "start.hb")}
    files |= {} if agent is None else {"agent": str(agent)}

    def show() -> None:
        report.show(console)
        say(f"Report: {page}\nStart: {out / 'start.hb'}")
        say(f"{'To start from it' if agent is None else f'Agent: {agent}; to go on'}:\n")
        for line in _snippet(report, out / "start.hb", agent):
            say(f"    {line}")

    answer.give(lambda: report.to_dict() | {"files": files}, show)


def _check_new(agent: Path) -> None:
    """Fail before the work if an agent could not be saved there, or would be lost."""
    if agent.exists():
        fail(f"--agent must be a new file, got {agent}: it may hold an agent that has learned more")
    if not agent.parent.is_dir():
        fail(f"--agent must be in a folder that exists, got {agent}")


def _make_agent(report: "LearningReport", path: Path, seed: int, limits: "Limits") -> None:
    """Save an agent that starts from the log; its decisions carry propensities."""
    from hierbandits import Agent
    from hierbandits.policies.policy import DRAWS

    Agent(report.start, seed=seed, draws=DRAWS, limits=limits).save(path)


def _snippet(report: "LearningReport", start: Path, agent: Path | None) -> list[str]:
    """Lines of Python that go on from here, and run as they are."""
    lines = ["import hierbandits as hb"]
    if agent is None:
        lines.append(f"agent = hb.Agent(hb.Start.load({str(start)!r}), seed=0)")
    else:
        lines.append(f"agent = hb.Agent.load({str(agent)!r})")
    known, encoder = report.start.tasks, report.start.encoder
    if report.arms is not None or encoder is not None:
        context = "" if encoder is None else f", context={encoder.typical!r}"
        task = known[0] if known else "a new task"
        lines.append(f"decision = agent.decide({task!r}{context})")
        lines.append("print(decision.arm)")
    return lines
