"""What a belief knows of its tasks, as a table for people."""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from hierbandits.agent.roster import Member
from hierbandits.beliefs.posterior import Posterior
from hierbandits.types import Name


def posterior_table(
    belief: Posterior,
    tasks: Sequence[Member],
    labels: Sequence[Name],  # of the features or arms
    level: float,
) -> dict[str, list[Any]]:
    """One row for each task and feature (or arm): its posterior and where its doubt comes from.

    `low` to `high` holds the parameter with probability `level`; `shared` is the part of its
    variance that other tasks can still remove.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    dim = len(labels)
    nodes = np.repeat([member.node for member in tasks], dim).astype(np.intp)
    table = np.arange(dim) if belief.is_armed else np.eye(dim)
    found = belief.predict_rows(nodes, table, np.tile(np.arange(dim), len(tasks)))
    half = NormalDist().inv_cdf((1 + level) / 2) * found.std
    return {
        "task": [member.task for member in tasks for _ in labels],
        "arm" if belief.is_armed else "feature": list(labels) * len(tasks),
        "decisions": [member.decisions for member in tasks for _ in labels],
        "rewards": [member.rewards for member in tasks for _ in labels],
        "mean": found.mean.tolist(),
        "low": (found.mean - half).tolist(),
        "high": (found.mean + half).tolist(),
        "within_var": found.within_var.tolist(),
        "shared_var": found.shared_var.tolist(),
    }


def summary_text(table: dict[str, list[Any]], max_rows: int, total: int) -> str:
    """The table's first rows, lined up, and how many there are besides."""
    shown = min(total, max_rows)
    columns = []
    for name, values in table.items():
        cells = [_text(value) for value in values[:shown]]
        width = max(len(cell) for cell in [name, *cells])
        pad = str.ljust if name in ("task", "arm", "feature") else str.rjust
        columns.append([pad(cell, width) for cell in [name, *cells]])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    if shown < total:
        lines.append(f"... and {total - shown} rows more")
    return "\n".join(lines)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "/".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
