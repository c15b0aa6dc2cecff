"""Where long commands keep their finished chunks, so that they resume after an interruption."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from hierbandits.cli.terminal import fail, tell

CHUNKS = ".hierbandits-chunks"
"""Inside the folder of a command that runs: the folder of its finished chunks."""


@contextmanager
def chunks_of(folder: Path) -> Iterator[Path]:
    """The folder of a command's finished chunks while it runs.

    The chunks of a command that fails or is interrupted stay, for the next attempt; its error
    ends the command with one line.
    """
    from hierbandits.simulation.checkpoint import Checkpoint

    chunks = folder / CHUNKS
    if chunks.is_symlink():
        fail(f"--out must not have a link to another folder, got {chunks}")
    try:
        chunks.mkdir(exist_ok=True)
    except OSError as error:
        fail(f"--out must be a folder that can be written, got {folder}: {error.strerror}")
    try:
        yield chunks
        Checkpoint.remove(chunks)
    except (ValueError, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        tell("Interrupted: run the same command again to resume")
        raise typer.Exit(130) from None
    finally:
        with suppress(OSError):  # it is not empty
            chunks.rmdir()
