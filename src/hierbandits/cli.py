"""The command line: one thin command per library function."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
except ImportError:  # the core needs neither
    sys.exit("The hierbandits command needs its extra: pip install 'hierbandits[all]'")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
console = Console()


def _version(wanted: bool) -> None:
    if wanted:
        from hierbandits import __version__

        console.print(f"hierbandits {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""


@app.command()
def policies() -> None:
    """List the policies by name, as `hb.POLICIES` and `hb.Agent(policy=...)` take them."""
    from hierbandits import POLICIES

    table = Table("policy", "what it does", box=None, pad_edge=False)
    for name, recipe in POLICIES.items():
        table.add_row(name, recipe.summary)
    console.print(table)


@app.command()
def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="Its name; without one, a list.")] = None,
    runs: Annotated[int | None, typer.Option(min=2, help="Simulated worlds.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Folder; results/NAME by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, a first look.")] = False,
    data: Annotated[Path | None, typer.Option(help="digits: a folder with MNIST's files.")] = None,
    dataset: Annotated[str | None, typer.Option(help="digits: mnist or digits8x8.")] = None,
) -> None:
    """Run an experiment and leave a folder of figures, results, settings and a report.

    An interrupted experiment resumes from its finished chunks, kept in the folder meanwhile. \
The numbers do not depend on --jobs.
    """
    import shutil

    from hierbandits.experiments import EXPERIMENTS, Options

    if experiment is None:
        table = Table("experiment", "what it shows", box=None, pad_edge=False)
        for name, entry in EXPERIMENTS.items():
            table.add_row(name, entry.summary)
        console.print(table)
        return
    if experiment not in EXPERIMENTS:
        _fail(f"EXPERIMENT must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    folder = out or Path("results") / experiment
    checkpoint = folder / "unfinished"
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(f"Simulating {experiment}", total=None)
        options = Options(
            runs=runs,
            seed=seed,
            jobs=jobs,
            quick=quick,
            checkpoint=checkpoint,
            data=data,
            dataset=dataset,
            advance=lambda done, total: progress.update(bar, completed=done, total=total),
        )
        try:
            report = EXPERIMENTS[experiment].run(options)
        except ValueError as error:
            _fail(str(error))
        page = report.write(folder)
    shutil.rmtree(checkpoint, ignore_errors=True)
    report.show(console)
    console.print(f"\nFigures, results and settings: {folder}\nReport: {page}")


def _fail(message: str) -> NoReturn:
    Console(stderr=True).print(f"Error: {message}", style="red", highlight=False, soft_wrap=True)
    raise typer.Exit(2)


def main() -> None:
    """Run the command line."""
    app()
