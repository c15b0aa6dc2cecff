"""The command that learns a prior from a log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierbandits.cli.spelling import listed, spelt
from hierbandits.cli.terminal import app, console, fail, need, report_folder, say

if TYPE_CHECKING:
    from hierbandits import LearningReport


@app.command()
def learn(
    log: Annotated[str, typer.Argument(help="A .parquet or .csv file, of any size.")],
    task: Annotated[str, typer.Option(help="The column of tasks: store, user, ward.")],
    reward: Annotated[str, typer.Option(help="The column of rewards, numbers.")],
    arm: Annotated[str | None, typer.Option(help="The column of the arms played.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            help="In place of --arm: a column of lists of features, or repeated, a column for each."
        ),
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="The column of the population that a task belongs to.")
    ] = None,
    arms: Annotated[
        list[str] | None, typer.Option(help="An arm; repeat it to fix the arms and their order.")
    ] = None,
    structure: Annotated[
        str, typer.Option(help="Of covariances: scalar, diagonal, full or low-rank.")
    ] = "diagonal",
    rank: Annotated[int, typer.Option(min=1, help="Of low-rank covariances.")] = 1,
    noise_std: Annotated[float | None, typer.Option(help="Of rewards, if it is known.")] = None,
    held_out: Annotated[
        float, typer.Option(help="The share of rows to check predictions on; 0 for none.")
    ] = 0.2,
    runs: Annotated[int, typer.Option(min=0, help="Simulated worlds; 0 for none.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("results/learn"),
) -> None:
    """Learn a prior from past rewards, and whether tasks should share what they learn.

    hierbandits learn log.parquet --task store --arm promo --reward revenue

    The log has a row for each past decision. The report says how similar tasks are, whether a \
hierarchy fits better than one pooled model or independent tasks, which tasks stand out, whether \
predictions of held-out rows hold, and what regret sharing would save. prior.json in its folder \
is where an agent starts from.
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
                features=listed(log, features or None),
                population=population,
                arms=spelt(log, arm, arms or None),
                structure=structure,  # type: ignore[arg-type]  # checked when fitting
                rank=rank,
                noise_std=noise_std,
                held_out=held_out,
                runs=runs,
                seed=seed,
            )
            with progress_bar("Writing the report", None, None):
                page = report.write(out)
        except (ValueError, OSError) as error:
            fail(" ".join(str(error).split()))
    report.show(console)
    say(f"Report: {page}\nPrior: {out / 'prior.json'}; to start from it:\n")
    _teach(report, out / "prior.json")


def _teach(report: "LearningReport", path: Path) -> None:
    """The lines that start an agent."""
    arms = "" if report.arms is None else f", arms={list(report.arms)!r}"
    say(f"    prior = hb.GaussianHierarchy.load({str(path)!r})")
    say(f"    agent = hb.Agent(prior{arms}, seed=0)")
