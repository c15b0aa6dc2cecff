"""The terminal: what commands say, how they fail, and the app they belong to."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
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


def paragraph(message: str) -> None:
    """Print a paragraph, broken between words, and an empty line."""
    console.print(message, end="\n\n", markup=False, highlight=False)


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


@contextmanager
def report_folder(out: Path) -> Iterator[None]:
    """Make the folder of a report before the work; remove it again if the work leaves it empty."""
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fail(f"--out must be a folder that can be written, got {out}: {error.strerror}")
        yield
    except BaseException:  # an interrupt too
        with suppress(OSError):  # the first that is not empty
            for folder in made:
                folder.rmdir()
        raise
