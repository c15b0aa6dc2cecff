"""The command `hierbandits learn`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.reading_options import (
    Decimal,
    Decision,
    DropMissing,
    LogFiles,
    Missing,
    MostArms,
    Separator,
    Strip,
    TimeFormat,
    in_one_line,
    opened_log,
    reading_of,
)
from hierbandits.cli.terminal import app, command_line, console, fail, need, report_folder, say


@app.command()
def learn(
    log: LogFiles,
    task: Annotated[str, typer.Option(help="Column of tasks: stores, users, wards.")],
    reward: Annotated[str, typer.Option(help="Column of rewards, which are numbers.")],
    arm: Annotated[str | None, typer.Option(help="Column of the arms that were played.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of --arm: a column of lists of features. Or a column of one feature; "
            "repeat the option for each."
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
            help="A feature that describes who comes, and cannot be chosen. Repeat the option for "
            "each; the promises offer the other features."
        ),
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(help="Name of an arm. Repeat the option to fix all arms and their order."),
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
    decision: Decision = None,
    strip: Strip = False,
    missing: Missing = None,
    drop_missing: DropMissing = False,
    time_format: TimeFormat = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("results/learn"),
) -> None:
    """Learn a prior from past rewards, and whether tasks should share what they learn.

    hierbandits learn log.parquet --task store --arm promo --reward revenue

    The log has a row for each past decision. The report answers five questions. How similar are \
tasks? Does a hierarchy fit better than one pooled model, or than independent tasks? Which tasks \
stand out? Do predictions of held-out rows hold? What regret does an agent promise that starts \
from this log?

    The folder also has start.hb, from which an agent starts: it has learned the log.
    """
    from hierbandits import Limits, learn_prior
    from hierbandits.reporting.progress import progress_bar

    need("matplotlib", "polars")
    with stopped_at_once(), report_folder(out):
        try:
            reading = reading_of(
                strip=strip, missing=missing, drop_missing=drop_missing, decision=decision,
                separator=separator, decimal=decimal, time_format=time_format,
            )  # fmt: skip
            columns = {
                "task": task, "reward": reward, "arm": arm, "features": features or None,
                "population": population, "decision": decision, "time": time,
            }  # fmt: skip
            _, report = learn_prior(
                opened_log(log, columns, arms or None, reading),
                context=context or None,
                structure=structure,  # type: ignore[arg-type]  # checked when fitting
                rank=rank,
                noise_std=noise_std,
                held_out=held_out,
                horizon=horizon,
                runs=runs,
                seed=seed,
                limits=Limits(fit_arms=most_arms),
            )
            with progress_bar("Writing the report", None, None):
                made = report.report()
                made.settings["command"] = command_line()
                page = made.write(out)
        except (ValueError, OSError) as error:
            fail(in_one_line(error))
    report.show(console)
    say(f"Report: {page}\nStart: {out / 'start.hb'}; to start from it:\n")
    say("    import hierbandits as hb")
    say(f"    agent = hb.Agent(hb.Start.load({str(out / 'start.hb')!r}), seed=0)")
