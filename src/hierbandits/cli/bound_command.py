"""The command `hierbandits bound`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.prior_file import read_prior
from hierbandits.cli.terminal import app, console, fail
from hierbandits.reporting.terminal_table import terminal_table


@app.command()
def bound(
    tasks: Annotated[int, typer.Option(min=1, help="Number of tasks, m.")] = 10,
    interactions: Annotated[int, typer.Option(min=1, help="Interactions with each task, n.")] = 200,
    concurrent: Annotated[
        int | None, typer.Option(min=1, help="Tasks in a round, L. Without it, one at a time.")
    ] = None,
    features: Annotated[
        int, typer.Option(min=1, help="Number of features, d. With --armed: of arms, K.")
    ] = 2,
    armed: Annotated[bool, typer.Option("--armed", help="A K-armed bandit.")] = False,
    hyper_std: Annotated[
        float, typer.Option(min=0, help="Width of the tasks' shared mean, sigma_q.")
    ] = 1.0,
    task_std: Annotated[
        float, typer.Option(min=0, help="Width of a task about that mean, sigma_0.")
    ] = 0.1,
    noise_std: Annotated[float, typer.Option(min=0, help="Noise of a reward, sigma.")] = 0.5,
    eta: Annotated[
        float | None,
        typer.Option(
            help="Smallest eigenvalue of the sum of a a' over the arms that a task must play first."
        ),
    ] = None,
    max_norm: Annotated[float, typer.Option(help="Largest norm of an arm's features.")] = 1.0,
    prior: Annotated[
        Path | None, typer.Option(help="A hierarchy as JSON, instead of the widths and the noise.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print the regret that the paper's theorems promise of HierTS, term by term.

    There are two columns of numbers. One has the paper's constants. The other has repaired \
constants, which also hold for anisotropic covariances. The last rows are the bound of OracleTS, \
the bound of TS in each task alone, and how many tasks it takes for HierTS to have a lower bound \
than TS.
    """
    from hierbandits import GaussianHierarchy, bounds

    try:
        if prior is not None:
            hierarchy = read_prior(prior)
        else:
            form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
            hierarchy = form(features, hyper_std=hyper_std, task_std=task_std, noise_std=noise_std)
        rows = bounds.side_by_side(
            hierarchy, tasks, interactions, concurrent, eta=eta, max_norm=max_norm
        )
    except ValueError as error:
        fail(str(error))
    names, lines = list(bounds.CONSTANTS), []
    for label, values, meaning in rows:
        cells = ("never" if value is None else f"{value:.4g}" for value in values.values())
        lines.append((label, *cells, meaning))
    numbers = range(1, 1 + len(names))
    table = terminal_table(("", *names, ""), lines, numbers)
    data = {label: {**values, "meaning": meaning} for label, values, meaning in rows}
    Answer(as_json, quiet).give(lambda: data, lambda: console.print(table))
