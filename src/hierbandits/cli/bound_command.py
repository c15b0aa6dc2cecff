"""The command that prints the regret bounds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from hierbandits.cli.terminal import app, console, fail

if TYPE_CHECKING:
    from hierbandits import GaussianHierarchy


@app.command()
def bound(
    tasks: Annotated[int, typer.Option(min=1, help="m")] = 10,
    interactions: Annotated[int, typer.Option(min=1, help="n, with each task")] = 200,
    concurrent: Annotated[int | None, typer.Option(min=1, help="L; without it, one task")] = None,
    features: Annotated[int, typer.Option(min=1, help="d, or with --armed K")] = 2,
    armed: Annotated[bool, typer.Option("--armed", help="A K-armed bandit.")] = False,
    hyper_std: Annotated[float, typer.Option(min=0, help="sigma_q")] = 1.0,
    task_std: Annotated[float, typer.Option(min=0, help="sigma_0")] = 0.1,
    noise_std: Annotated[float, typer.Option(min=0, help="sigma")] = 0.5,
    eta: Annotated[
        float | None, typer.Option(help="Least eigenvalue of a spanning set's sum of a a'.")
    ] = None,
    max_norm: Annotated[float, typer.Option(help="Of the arms.")] = 1.0,
    prior: Annotated[
        Path | None, typer.Option(help="A hierarchy as JSON, in place of the widths.")
    ] = None,
) -> None:
    """Print what the paper's theorems promise of HierTS, term by term and constant by constant.

    The paper's constants stand beside the repaired ones, which also hold for anisotropic \
covariances; below, the bounds of OracleTS and of TS in each task alone.
    """
    from hierbandits import GaussianHierarchy, bounds

    try:
        if prior is not None:
            hierarchy = _read_hierarchy(prior)
        else:
            form = GaussianHierarchy.armed if armed else GaussianHierarchy.linear
            hierarchy = form(features, hyper_std=hyper_std, task_std=task_std, noise_std=noise_std)
        rows = bounds.side_by_side(
            hierarchy, tasks, interactions, concurrent, eta=eta, max_norm=max_norm
        )
    except ValueError as error:
        fail(str(error))
    table = Table("", box=None, pad_edge=False)
    for name in bounds.CONSTANTS:
        table.add_column(name, justify="right")
    table.add_column("")
    for label, values, meaning in rows:
        cells = ("never" if value is None else f"{value:.4g}" for value in values.values())
        table.add_row(label, *cells, meaning)
    console.print(table)


def _read_hierarchy(path: Path) -> "GaussianHierarchy":
    from hierbandits import GaussianHierarchy

    try:
        return GaussianHierarchy.load(path)
    except (ValueError, OSError) as error:
        why = error.__cause__ or error
        fail(f"--prior must be a file with a hierarchy as JSON, got {path}: {why}")
