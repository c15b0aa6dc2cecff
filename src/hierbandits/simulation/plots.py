"""Plots of regret: curves over rounds, and means with error bars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.simulation.line_styles import line_styles
from hierbandits.simulation.study import Study

FEW_TICKS = 8


def regret_curves(axes: Any, study: Study, title: str) -> None:
    """Cumulative regret against rounds, with bands of one standard error."""
    for name, (colour, dash) in line_styles(study.outcomes).items():
        mean, error = study.band(name)
        axes.plot(study.rounds, mean, linestyle=dash, color=colour, label=name, linewidth=1.8)
        axes.fill_between(
            study.rounds, mean - error, mean + error, color=colour, alpha=0.25, linewidth=0
        )
    axes.set(title=title, xlabel="round", ylabel="regret", xlim=(0, None), ylim=(0, None))
    axes.legend(frameon=False)


def error_bars(
    axes: Any,
    x: ArrayLike,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    title: str,
    xlabel: str,
    ylabel: str = "regret",
    log: bool = False,
) -> None:
    """Means with bars of one standard error against x, a line for each name.

    `lines` has a mean and its standard error for each x.  Up to FEW_TICKS values of x are ticks.
    """
    styles = line_styles(lines)
    for name, points in lines.items():
        mean, error = np.array(points).T
        colour, dash = styles[name]
        axes.errorbar(
            x, mean, error, linestyle=dash, color=colour, label=name, marker="o", markersize=4,
            capsize=2, linewidth=1.6,
        )  # fmt: skip
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if log:
        from matplotlib.ticker import LogFormatter

        axes.set(xscale="log", yscale="log")
        axes.yaxis.set_major_formatter(LogFormatter())  # 40 rather than 4 x 10^1
        axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    else:
        axes.set_ylim(0, None)
    values = np.asarray(x)
    if values.size <= FEW_TICKS:
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
