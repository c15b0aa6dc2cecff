"""Pictures of an evaluation: estimates with their intervals, overall and task by task."""

from typing import Any

import numpy as np

from hierbandits.evaluation.result import Estimate, Evaluation
from hierbandits.evaluation.tables import LABELS
from hierbandits.plots import STYLES, panels

MOST_TASKS = 40
"""Tasks that fit a figure: those with the most rows."""

COLOURS = {  # of methods
    "ips": "#d55e00",
    "snips": "#e69f00",
    "dm": "#009e73",
    "dr": "#0072b2",
    "replay": "#cc79a7",
}
OTHERS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a4fbf", "#999933")
BEST_FIRST = ("dr", "snips", "ips", "dm", "replay")
"""Of a policy's methods, the first of these is drawn task by task."""


def estimates_figure(evaluation: Evaluation) -> Any:
    """Every policy and method, a point with its interval, beside the log's own mean."""
    logged, *others = evaluation.estimates
    policies = list(dict.fromkeys(each.policy for each in others))
    figure, (axes,) = panels(1, height=1.3 + 0.25 * len(others) + 0.2 * len(policies), width=8)
    axes.axvspan(logged.low, logged.high, color="#888888", alpha=0.2, linewidth=0)
    axes.axvline(logged.value, color="#444444", linestyle=":", linewidth=1.4, label="the log's own")
    ticks, y, shown = [], 0.0, set()
    for policy in policies:
        mine = [each for each in others if each.policy == policy]
        ticks.append(y + (len(mine) - 1) / 2)
        for each in mine:
            label = None if each.method in shown else LABELS.get(each.method, each.method)
            shown.add(each.method)
            _point(axes, each, y, COLOURS[each.method], label)
            y += 1
        y += 0.8
    axes.set_yticks(ticks, policies)
    axes.set_ylim(y - 0.6, -0.8)
    axes.set(xlabel=f"mean reward, {100 * evaluation.level:g} % intervals")
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _point(axes: Any, each: Estimate, y: float, colour: str, label: str | None) -> None:
    error = [[each.value - each.low], [each.high - each.value]]
    if not np.isfinite(each.low):
        error = [[0.0], [0.0]]
    axes.errorbar(
        [each.value], [y], xerr=error, fmt="o", color=colour, markersize=4.5, capsize=2.5,
        linewidth=1.6, label=label,
    )  # fmt: skip


def tasks_figure(evaluation: Evaluation) -> Any:
    """Every task's estimates, by the best method of each policy, beside its logged mean."""
    logged = evaluation.by_task["logged", "logged"]
    order = np.argsort(-logged.rows, kind="stable")[:MOST_TASKS]
    order = order[np.argsort(logged.found.value[order], kind="stable")]
    drawn = drawn_methods(evaluation)
    each = 0.14 * (len(drawn) + 1.6)
    figure, (axes,) = panels(1, height=1.4 + max(0.26, each) * order.size, width=8)
    y = np.arange(order.size)
    axes.plot(
        logged.found.value[order], y, "|", color="#444444", markersize=12, markeredgewidth=2,
        label="the log's own",
    )  # fmt: skip
    offsets = (np.arange(len(drawn)) - (len(drawn) - 1) / 2) * (0.7 / max(len(drawn), 2))
    for place, (policy, method) in enumerate(drawn):
        found = evaluation.by_task[policy, method].found
        colour = STYLES.get(policy, (None, ""))[0] or OTHERS[place % len(OTHERS)]
        value, low, high = found.value[order], found.low[order], found.high[order]
        bars = np.nan_to_num(np.stack([value - low, high - value]))
        axes.errorbar(
            value, y + offsets[place], xerr=bars, fmt="o", color=colour, markersize=3.5,
            linewidth=1.1, label=f"{policy}, {LABELS.get(method, method)}",
        )  # fmt: skip
    axes.set_yticks(y, [f"{evaluation.tasks[task]}" for task in order])
    axes.set_ylim(-0.7, order.size - 0.3)
    axes.set(xlabel=f"mean reward, {100 * evaluation.level:g} % intervals", ylabel="task")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def drawn_methods(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The policies drawn task by task, each with its best method."""
    policies = dict.fromkeys(each.policy for each in evaluation.estimates[1:])
    return [
        next((policy, method) for method in BEST_FIRST if (policy, method) in evaluation.by_task)
        for policy in policies
    ]
