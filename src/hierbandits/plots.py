"""Pictures of results, for people who would rather look than read."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.study import Study

STYLES = {  # one colour and dash for each policy, wherever it is drawn
    "HierTS": ("#0072b2", "-"),
    "AdaptiveHierTS": ("#56b4e9", "-"),
    "AdaptiveHierTS, noise known": ("#332288", (0, (4, 1, 1, 1))),
    "TS": ("#d55e00", "--"),
    "OracleTS": ("#444444", ":"),
    "PooledTS": ("#009e73", "-."),
    "HierUCB": ("#cc79a7", (0, (5, 1, 1, 1, 1, 1))),
    "HierTS-forced": ("#88ccee", (0, (3, 1))),
    "HierGreedy": ("#e69f00", (0, (1, 2))),
    "LinUCB": ("#999933", (0, (6, 2, 2, 2))),
}


def panels(
    count: int, height: float = 3.4, width: float = 4.2, columns: int | None = None
) -> tuple[Any, list[Any]]:
    """A figure of `count` plots side by side, in rows of at most `columns`."""
    from matplotlib.figure import Figure

    columns = min(count, columns or count)
    rows = ceil(count / columns)
    figure = Figure(figsize=(width * columns + 0.4, height * rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, columns)))
    for spare in axes[count:]:
        spare.set_axis_off()
    for each in axes[:count]:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25)
    return figure, axes[:count]


def regret_curves(axes: Any, study: Study, title: str) -> None:
    """Cumulative regret against rounds, with bands of one standard error."""
    for name in study.outcomes:
        mean, error = study.band(name)
        colour, dash = _style(name)
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

    A few values of x are ticks of their own.
    """
    for name, points in lines.items():
        mean, error = np.array(points).T
        colour, dash = _style(name)
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
    if values.size <= 8:
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)
    else:
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)


def _style(name: str) -> tuple[str | None, Any]:
    return STYLES.get(name, (None, "-"))
