"""The terminal: what commands print, how they fail, and the app that they belong to."""

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

try:
    import typer
    from rich.console import Console
    from typer.core import TyperGroup
except ImportError:  # the library does without them
    sys.exit("The hierbandits command needs its extra: pip install 'hierbandits[all]'")

from hierbandits.cli.interruption import at_a_sudden_end
from hierbandits.reporting.report_folder import ReportFolder
from hierbandits.reporting.shown_name import printable


class PlainGroup(TyperGroup):
    """Commands whose help shows no type for an option that takes no value."""

    def get_command(self, *arguments: Any) -> Any:
        """A command by its name."""
        command = super().get_command(*arguments)
        if command is not None:
            _hide_types_of_flags(command, arguments[0])
        return command

    def get_params(self, *arguments: Any) -> Any:
        """The options of the program itself."""
        options = super().get_params(*arguments)
        for option in options:
            _hide_type_of_flag(option)
        return options


def _hide_types_of_flags(command: Any, context: Any) -> None:
    for option in command.get_params(context):
        _hide_type_of_flag(option)


def _hide_type_of_flag(option: Any) -> None:
    if getattr(option, "is_flag", False) and option.metavar is None:
        option.metavar = ""


app = typer.Typer(
    cls=PlainGroup, no_args_is_help=True, add_completion=True, rich_markup_mode="rich"
)
console = Console()


def _print_version(wanted: bool) -> None:
    if wanted:
        from hierbandits import __version__

        say(f"hierbandits {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""


def say(message: str) -> None:
    """Print lines as they are, but for escapes."""
    console.print(_lines(message), markup=False, highlight=False, soft_wrap=True)


def tell(message: str) -> None:
    """Print lines to the standard error."""
    Console(stderr=True).print(
        _lines(message), style="red", markup=False, highlight=False, soft_wrap=True
    )


def _lines(message: str) -> str:
    return "\n".join(printable(line) for line in message.split("\n"))


def fail(message: str) -> NoReturn:
    """Print what is wrong, and exit with status 2."""
    tell(f"Error: {message}")
    raise typer.Exit(2)


def command_line() -> str:
    """The command that runs, as it was typed, for a report to name."""
    return shlex.join(["hierbandits", *sys.argv[1:]])


def need(*packages: str, extra: str = "all") -> None:
    """Fail before the work, and not after it, if a package is not installed."""
    from importlib import import_module

    for package in packages:
        try:
            import_module(package)
        except ImportError as error:
            fail(f"this command needs {package} ({error}): pip install 'hierbandits[{extra}]'")


def in_one_line(error: Exception) -> str:
    """What an error says; one about a row of the log also says how to see all of them."""
    message = " ".join(str(error).split())
    if re.search(r" at row \d+$", message):
        message += " (hierbandits inspect tells all problems at once)"
    return message


@contextmanager
def failing() -> Iterator[None]:
    """Turn what is wrong with arguments and files into one line, and status 2."""
    try:
        yield
    except (ValueError, LookupError, OSError) as error:
        fail(in_one_line(error))


@contextmanager
def report_folder(out: Path) -> Iterator[None]:
    """Make a report's folder before the work, and remove it if the work fails and leaves it empty.

    The folders above it that had to be made are removed too.
    """
    new = [folder for folder in (out, *out.parents) if not folder.exists()]

    def clear() -> None:
        with suppress(OSError):  # stops at the first that is not empty
            for folder in new:
                folder.rmdir()

    try:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fail(f"--out must be a folder that can be written, got {out}: {error.strerror}")
        try:
            ReportFolder(out).check()
        except OSError as error:
            fail(f"--out must be a folder for a report: {error}")
        with at_a_sudden_end(clear):
            yield
    except BaseException:  # an interrupt too
        clear()
        raise
