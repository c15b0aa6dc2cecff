"""The command line: one thin command per library function, one file per command."""

# The terminal first, which says what is missing; then the commands in the order of --help.
from hierbandits.cli.terminal import app  # isort: skip
from hierbandits.cli import learn, evaluate, policies, reproduce, bound  # isort: skip

__all__ = ["app", "bound", "evaluate", "learn", "main", "policies", "reproduce"]


def main() -> None:
    """Run the command line."""
    app()
