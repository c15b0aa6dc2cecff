"""The command line: one thin command per library function."""

import sys
from pathlib import Path
from typing import Annotated

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
def demo(
    runs: Annotated[int, typer.Option(min=2, help="Simulated worlds.")] = 500,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of five decisions each.")] = 400,
    task_std: Annotated[float, typer.Option(min=1e-6, help="How much tasks differ.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="A folder for the plot of regret against rounds.")
    ] = None,
) -> None:
    """Compare four policies on simulated tasks that are alike: the gain of learning together.

    Ten tasks, ten arms, two features; tasks differ by --task-std around an unknown mean. \
Every policy meets the same worlds, so that differences are paired.
    """
    from hierbandits.demo import COMPARED, compare, mean_and_error

    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("Simulating", total=len(COMPARED) * rounds)
        regret = compare(runs, rounds, task_std, seed, lambda: progress.advance(bar))
    table = Table("policy", box=None, pad_edge=False)
    for heading in ("regret", "± s.e.", "more than HierTS", "± s.e. (paired)"):
        table.add_column(heading, justify="right")
    hier = regret["HierTS"].sum(axis=1)
    for name in COMPARED:
        total = regret[name].sum(axis=1)
        mean, error = mean_and_error(total)
        gap, gap_error = mean_and_error(total - hier)
        own = name == "HierTS"
        table.add_row(
            name,
            f"{mean:.1f}",
            f"{error:.1f}",
            "" if own else f"{gap:+.1f}",
            "" if own else f"{gap_error:.1f}",
        )
    console.print(
        f"Total regret over {rounds} rounds of 5 decisions in 10 tasks, {runs} paired worlds:\n"
    )
    console.print(table)
    if out is not None:
        from hierbandits.plots import regret_plot

        console.print(f"\nRegret against rounds: {regret_plot(regret, out)}")


def main() -> None:
    """Run the command line."""
    app()
