"""The terminal: what commands say, how they fail, and the app they belong to."""

import sys
from typing import Annotated, NoReturn

try:
    import typer
    from rich.console import Console
except ImportError:  # the core needs neither
    sys.exit("The hierbandits command needs its extra: pip install 'hierbandits[all]'")

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="rich")
console = Console()


def _version(wanted: bool) -> None:
    if wanted:
        from hierbandits import __version__

        say(f"hierbandits {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""


def say(message: str) -> None:
    """Print a line as it is."""
    console.print(message, markup=False, highlight=False, soft_wrap=True)


def tell(message: str) -> None:
    """Print a line where errors go."""
    Console(stderr=True).print(message, style="red", markup=False, highlight=False, soft_wrap=True)


def fail(message: str) -> NoReturn:
    """Say what is wrong and leave."""
    tell(f"Error: {message}")
    raise typer.Exit(2)


def need(*packages: str) -> None:
    """Fail now, not after the work, if what reads, draws or keeps results is not installed."""
    from importlib import import_module

    for package in packages:
        try:
            import_module(package)
        except ImportError as error:
            fail(f"this command needs {package} ({error}): pip install 'hierbandits[all]'")
