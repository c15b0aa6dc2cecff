"""Heat maps of rules: a row for each world, a plot for each horizon."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierbandits.experiments.rule_comparison import Cell
from hierbandits.reporting.figure import panels

_CELL = 0.4, 0.23  # inches of a number
_LABELS, _NAMES = 2.6, 1.4  # inches for the names of the worlds and of the rules
_SHADES = 1.5  # doublings, either way, at which colours end


def heat_maps(cells: Sequence[Cell]) -> dict[tuple[int, ...], Any]:
    """A figure for all horizons that have the same worlds, by these horizons."""
    by_horizon: dict[int, dict[str, Cell]] = {}
    for cell in cells:
        by_horizon.setdefault(cell.horizon, {})[cell.world] = cell
    horizons_of: dict[tuple[str, ...], list[int]] = {}
    for horizon in sorted(by_horizon):
        horizons_of.setdefault(tuple(by_horizon[horizon]), []).append(horizon)
    return {
        tuple(horizons): _heat_map({n: list(by_horizon[n].values()) for n in horizons})
        for horizons in horizons_of.values()
    }


def _heat_map(by_horizon: Mapping[int, Sequence[Cell]]) -> Any:
    """Regret of every rule over HierTS's, in the same worlds at each horizon."""
    first = next(iter(by_horizon.values()))
    names = list(first[0].regret)
    width = _CELL[0] * len(names) + _LABELS / len(by_horizon)
    figure, plots = panels(len(by_horizon), height=_CELL[1] * len(first) + _NAMES, width=width)
    for plot, (horizon, cells) in zip(plots, by_horizon.items(), strict=True):
        table = np.array([[cell.ratio(name, "HierTS")[0] for name in names] for cell in cells])
        shade = np.log2(table)
        image = plot.imshow(shade, cmap="RdBu_r", vmin=-_SHADES, vmax=_SHADES, aspect="auto")
        plot.grid(visible=False)
        plot.set_title(f"n = {horizon:,}", fontsize=10)
        plot.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
        plot.xaxis.tick_top()
        plot.set_yticks(range(len(cells)), [cell.world for cell in cells], fontsize=8)
        plot.tick_params(length=0, labelleft=plot is plots[0])
        for row, column in np.ndindex(table.shape):
            plot.text(
                column, row, _short(float(table[row, column])), fontsize=7, ha="center",
                va="center", color="white" if abs(shade[row, column]) > 1 else "black",
            )  # fmt: skip
    bar = figure.colorbar(image, ax=plots, pad=0.01, aspect=40, fraction=0.02)
    bar.set_ticks([-1, 0, 1], labels=["half", "HierTS", "twice"], fontsize=8)
    return figure


def _short(ratio: float) -> str:
    """Three characters or so."""
    return f"{ratio:.2f}".removeprefix("0") if ratio < 9.95 else f"{ratio:.0f}"
