"""The file of the option --prior."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hierbandits.cli.terminal import fail
from hierbandits.types import Name

if TYPE_CHECKING:
    from hierbandits import GaussianHierarchy


def read_prior(path: Path) -> "tuple[GaussianHierarchy, list[Name] | None]":
    """The hierarchy, and the names of its arms if the file has them."""
    from hierbandits import GaussianHierarchy

    try:
        hierarchy = GaussianHierarchy.load(path)
        arms = json.loads(path.read_text(encoding="utf-8")).get("arms")
    except (ValueError, OSError) as error:
        why = error.__cause__ or error
        fail(f"--prior must be a file with a hierarchy as JSON, got {path}: {why}")
    if arms is not None and not isinstance(arms, list):
        fail(f"--prior must hold a list of arms if any, got {arms!r:.80} in {path}")
    return hierarchy, arms
