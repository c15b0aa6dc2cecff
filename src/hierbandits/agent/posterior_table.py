"""What a belief knows of its tasks, as a table for people."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hierbandits.agent.roster import Member
from hierbandits.algebra import normal_quantile
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import probability
from hierbandits.reporting.text_table import text_table
from hierbandits.types import Name


def posterior_table(
    belief: Posterior,
    members: Sequence[Member],
    labels: Sequence[Name],  # of the features or arms
    confidence: float,
) -> dict[str, list[Any]]:
    """One row for each task and feature (or arm): its posterior, and what its variance comes from.

    The parameter lies between `low` and `high` with probability `confidence`.  `shared_var` is
    the part of its variance that rewards of other tasks can still remove, `within_var` the rest.
    """
    reach = normal_quantile(probability("confidence", confidence))
    dim = len(labels)
    nodes = np.repeat([member.node for member in members], dim).astype(np.intp)
    table = np.arange(dim) if belief.is_armed else np.eye(dim)
    prediction = belief.predict_rows(nodes, table, np.tile(np.arange(dim), len(members)))
    return {
        "task": [member.task for member in members for _ in labels],
        "arm" if belief.is_armed else "feature": list(labels) * len(members),
        "decisions": [member.decisions for member in members for _ in labels],
        "rewards": [member.rewards for member in members for _ in labels],
        "mean": prediction.mean.tolist(),
        "low": prediction.bound(-reach).tolist(),
        "high": prediction.bound(reach).tolist(),
        "within_var": prediction.within_var.tolist(),
        "shared_var": prediction.shared_var.tolist(),
    }


def summary_text(table: dict[str, list[Any]], max_rows: int, total: int) -> str:
    """The first rows of a posterior table of `total` rows as text, and how many more there are."""
    shown = min(total, max_rows)
    rows = [[_cell(value) for value in row] for row in zip(*table.values(), strict=True)]
    text = text_table(list(table), rows[:shown], left=2)
    return text if shown == total else f"{text}\n... and {total - shown} rows more"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "/".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
