"""Figures of one look: plots side by side."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np


def panels(
    count: int, height: float = 3.4, width: float = 4.2, columns: int | None = None
) -> tuple[Any, list[Any]]:
    """A figure and its `count` plots, in rows of at most `columns`; sizes are inches of a plot."""
    from matplotlib.figure import Figure

    columns = min(count, columns or count)
    rows = ceil(count / columns)
    figure = Figure(figsize=(width * columns + 0.4, height * rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, columns)))
    for spare in axes[count:]:
        spare.set_axis_off()
    for plot in axes[:count]:
        plot.spines[["top", "right"]].set_visible(False)
        plot.grid(alpha=0.25)
    return figure, axes[:count]


def legend_of_names(axes: Any, handles: Sequence[Any], names: Sequence[str], **style: Any) -> None:
    """A legend of names that others chose: one that begins with an underscore is shown too."""
    legend = axes.legend(handles, [f"name {place}" for place in range(len(names))], **style)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
