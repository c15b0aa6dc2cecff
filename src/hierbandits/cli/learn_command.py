"""The command `hierbandits learn`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.spelling import feature_columns, names_as_in_log
from hierbandits.cli.terminal import app, console, fail, need, report_folder, say


@app.command()
def learn(
    log: Annotated[str, typer.Argument(help="A .parquet or .csv file, a row for each decision.")],
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
        typer.Option(min=0, help="Simulated worlds, to see what the start promises. 0 for none."),
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
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
    from hierbandits import learn_prior
    from hierbandits.reporting.progress import progress_bar

    need("matplotlib", "polars")
    with report_folder(out):
        try:
            _, report = learn_prior(
                log,
                task=task,
                reward=reward,
                arm=arm,
                features=feature_columns(log, features or None),
                population=population,
                time=time,
                context=context or None,
                arms=names_as_in_log(log, arm, arms or None),
                structure=structure,  # type: ignore[arg-type]  # checked when fitting
                rank=rank,
                noise_std=noise_std,
                held_out=held_out,
                horizon=horizon,
                runs=runs,
                seed=seed,
            )
            with progress_bar("Writing the report", None, None):
                page = report.write(out)
        except (ValueError, OSError) as error:
            fail(" ".join(str(error).split()))
    report.show(console)
    say(f"Report: {page}\nStart: {out / 'start.hb'}; to start from it:\n")
    say("    import hierbandits as hb")
    say(f"    agent = hb.Agent(hb.Start.load({str(out / 'start.hb')!r}), seed=0)")
