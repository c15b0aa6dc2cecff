"""The command line: one thin command per library function."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

try:
    import typer
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
except ImportError:  # the core needs neither
    sys.exit("The hierbandits command needs its extra: pip install 'hierbandits[all]'")

if TYPE_CHECKING:
    from hierbandits import GaussianHierarchy

CHUNKS = ".hierbandits-chunks"
"""The folder of finished chunks inside an experiment's, while it runs."""

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
console = Console()


def _version(wanted: bool) -> None:
    if wanted:
        from hierbandits import __version__

        _say(f"hierbandits {__version__}")
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
    digit: Annotated[
        list[int] | None, typer.Option(help="digits: a positive class; may be repeated.")
    ] = None,
) -> None:
    """Run an experiment and leave a folder of figures, results, settings and a report.

    An interrupted experiment resumes from its finished chunks, kept in the folder meanwhile. \
The numbers do not depend on --jobs.
    """
    from hierbandits.experiments import EXPERIMENTS, Options

    if experiment is None:
        table = Table("experiment", "what it shows", box=None, pad_edge=False)
        for name, entry in EXPERIMENTS.items():
            table.add_row(name, entry.summary)
        console.print(table)
        return
    if experiment not in EXPERIMENTS:
        _fail(f"EXPERIMENT must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    for option, given in (("--data", data), ("--dataset", dataset), ("--digit", digit)):
        if given and experiment != "digits":
            _fail(f"{option} is for the experiment digits alone, got it for {experiment}")
    _need("matplotlib", "polars", *(["joblib"] if jobs != 1 else []))
    if experiment == "digits" and data is None:
        _need("sklearn")
    folder = out or Path("results") / experiment
    chunks = folder / CHUNKS
    try:
        chunks.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _fail(f"--out must be a folder that can be written, got {folder}: {error.strerror}")
    try:
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task(f"Simulating {experiment}", total=None)
            options = Options(
                runs=runs,
                seed=seed,
                jobs=jobs,
                quick=quick,
                checkpoint=chunks,
                data=data,
                dataset=dataset,
                digits=tuple(digit or ()),
                advance=lambda done, total: progress.update(bar, completed=done, total=total),
            )
            report = EXPERIMENTS[experiment].run(options)
            page = report.write(folder)
    except (ValueError, OSError) as error:
        _discard(chunks, kept=True)
        _fail(str(error))
    except KeyboardInterrupt:
        _tell("Interrupted: run the same command again to resume")
        raise typer.Exit(130) from None
    _discard(chunks)
    report.show(console)
    for name in report.figures:
        _say(f"Figure: {folder / name}.png")
    _say(f"Report: {page}\nResults and settings: {folder}")


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
    from hierbandits import bounds

    try:
        if prior is not None:
            hierarchy = _read_hierarchy(prior)
        else:
            hierarchy = _isotropic(features, armed, hyper_std, task_std, noise_std)
        rows = bounds.side_by_side(
            hierarchy, tasks, interactions, concurrent, eta=eta, max_norm=max_norm
        )
    except ValueError as error:
        _fail(str(error))
    table = Table("", box=None, pad_edge=False)
    for name in bounds.CONSTANTS:
        table.add_column(name, justify="right")
    table.add_column("")
    for label, values, meaning in rows:
        cells = ("never" if value is None else f"{value:.4g}" for value in values.values())
        table.add_row(label, *cells, meaning)
    console.print(table)


def _read_hierarchy(path: Path) -> "GaussianHierarchy":
    import json

    from hierbandits import GaussianHierarchy

    try:
        return GaussianHierarchy.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:
        _fail(f"--prior must be a file with a hierarchy as JSON, got {path}: {error}")


def _isotropic(
    features: int, armed: bool, hyper_std: float, task_std: float, noise_std: float
) -> "GaussianHierarchy":
    import numpy as np

    from hierbandits import GaussianHierarchy

    if armed:
        return GaussianHierarchy.armed(
            features, hyper_std=hyper_std, task_std=task_std, noise_std=noise_std
        )
    return GaussianHierarchy(
        hyper_mean=np.zeros(features),
        hyper_cov=hyper_std**2 * np.eye(features),
        task_cov=task_std**2 * np.eye(features),
        noise_std=noise_std,
    )


def _need(*packages: str) -> None:
    """Fail now, not after the simulation, if what draws and keeps results is not installed."""
    from importlib import import_module

    for package in packages:
        try:
            import_module(package)
        except ImportError as error:
            _fail(f"experiments need {package} ({error}): pip install 'hierbandits[all]'")


def _discard(chunks: Path, kept: bool = False) -> None:
    """Remove the chunks, unless they are `kept`, and their folder if nothing else is in it."""
    for chunk in [] if kept else chunks.glob("*.chunk*"):
        chunk.unlink(missing_ok=True)
    with suppress(OSError):  # it is not empty
        chunks.rmdir()


def _say(message: str) -> None:
    console.print(message, markup=False, highlight=False, soft_wrap=True)


def _tell(message: str) -> None:
    Console(stderr=True).print(message, style="red", markup=False, highlight=False, soft_wrap=True)


def _fail(message: str) -> NoReturn:
    _tell(f"Error: {message}")
    raise typer.Exit(2)


def main() -> None:
    """Run the command line."""
    app()
