"""The file of the option --prior."""

from pathlib import Path
from typing import TYPE_CHECKING

from hierbandits.cli.terminal import fail

if TYPE_CHECKING:
    from hierbandits import GaussianHierarchy


def read_prior(path: Path) -> "GaussianHierarchy":
    """The hierarchy, with the names of its arms if the file has them."""
    from hierbandits import GaussianHierarchy

    try:
        return GaussianHierarchy.load(path)
    except (ValueError, OSError) as error:
        why = error.__cause__ or error
        fail(f"--prior must be a file with a hierarchy as JSON, got {path}: {why}")
