"""Pictures of an evaluation: differences, estimates, replays, and task by task."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hierbandits.evaluation.difference import LOGGED, Difference
from hierbandits.evaluation.evaluation import Estimate, Evaluation
from hierbandits.evaluation.evaluation_tables import LABELS
from hierbandits.reporting.figure import panels
from hierbandits.reporting.shown_name import figure_name
from hierbandits.types import Indices

MOST_TASKS = 40
"""Tasks that fit a figure: those with the most rows."""

COLOURS = {  # of methods
    "ips": "#d55e00",
    "snips": "#e69f00",
    "dm": "#009e73",
    "dr": "#0072b2",
    "replay": "#cc79a7",
}
CUT = 10.0
"""An interval longer than this many typical ones does not stretch the axis."""


def differences_figure(evaluation: Evaluation) -> Any:
    """What each frozen policy earns more than the log, and than the best single arm."""
    trusted = {(each.policy, each.method) for each in evaluation.trusted()}
    shown = [
        each
        for each in evaluation.differences
        if (each.policy, each.method) in trusted and each.method != "replay"
    ]
    others = [LOGGED] + [evaluation.reference] * (evaluation.reference is not None)
    policies = list(dict.fromkeys(each.policy for each in shown))
    figure, every = panels(len(others), height=1.3 + 0.3 * len(policies), width=4.2)
    for axes, against in zip(every, others, strict=True):
        axes.axvline(0.0, color="#444444", linestyle=":", linewidth=1.4)
        for each in shown:
            if each.against == against:
                _point(axes, each, policies.index(each.policy), COLOURS[each.method], None)
        than = "the log" if against == LOGGED else "the best single arm"
        axes.set_title(f"more than {than}", fontsize=10)
        axes.set_yticks(range(len(policies)), [figure_name(policy) for policy in policies])
        axes.set_ylim(len(policies) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.locator_params(axis="x", nbins=5)
    interval = f"{100 * evaluation.confidence:g} % intervals"
    figure.supxlabel(f"reward per decision, {interval}", fontsize=10)
    return figure


def estimates_figure(evaluation: Evaluation) -> Any:
    """Every frozen policy and method, a point with its interval, beside the log's own mean."""
    return _values_figure(evaluation, [e for e in evaluation.estimates[1:] if e.method != "replay"])


def replays_figure(evaluation: Evaluation) -> Any:
    """What learning policies earned while they learned."""
    return _values_figure(evaluation, [e for e in evaluation.estimates[1:] if e.method == "replay"])


def _values_figure(evaluation: Evaluation, shown: Sequence[Estimate]) -> Any:
    logged = evaluation.estimates[0]
    policies = list(dict.fromkeys(each.policy for each in shown))
    figure, (axes,) = panels(1, height=1.2 + 0.19 * len(shown) + 0.16 * len(policies), width=8)
    axes.axvspan(logged.low, logged.high, color="#888888", alpha=0.2, linewidth=0)
    axes.axvline(logged.value, color="#444444", linestyle=":", linewidth=1.4, label="the log's own")
    ticks, y, labelled = [], 0.0, set()
    for policy in policies:
        mine = [each for each in shown if each.policy == policy]
        ticks.append(y + (len(mine) - 1) / 2)
        for each in mine:
            label = None if each.method in labelled else LABELS.get(each.method, each.method)
            labelled.add(each.method)
            _point(axes, each, y, COLOURS[each.method], label)
            y += 1
        y += 0.8
    axes.set_yticks(ticks, [figure_name(policy) for policy in policies])
    axes.set_ylim(y - 0.6, -0.8)
    axes.set(xlabel=f"mean reward, {100 * evaluation.confidence:g} % intervals")
    shortened = cut_limits([logged, *shown])
    if shortened is not None:
        axes.set_xlim(*shortened)
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def cut_limits(estimates: Sequence[Estimate]) -> tuple[float, float] | None:
    """The limits that leave out very long intervals; None if there are none."""
    known = [each for each in estimates if np.isfinite(each.low)]
    lengths = np.array([each.high - each.low for each in known])
    kept = [each for each, length in zip(known, lengths, strict=True)
            if length <= CUT * np.median(lengths)]  # fmt: skip
    if len(kept) == len(known):
        return None
    left, right = min(each.low for each in kept), max(each.high for each in kept)
    if not right > left:  # all are one number: there is no length to cut
        return None
    margin = 0.05 * (right - left)
    return left - margin, right + margin


def _point(
    axes: Any, each: Estimate | Difference, y: float, colour: str, label: str | None
) -> None:
    error = [[each.value - each.low], [each.high - each.value]]
    if not np.isfinite(each.low):
        error = [[0.0], [0.0]]
    axes.errorbar(
        [each.value], [y], xerr=error, fmt="o", color=colour, markersize=4.5, capsize=2.5,
        linewidth=1.6, label=label,
    )  # fmt: skip


def tasks_figure(evaluation: Evaluation) -> Any:
    """A panel for each policy: the estimate of every task beside the task's logged mean."""
    logged = evaluation.by_task["logged", "logged"]
    order = np.argsort(-logged.rows, kind="stable")[:MOST_TASKS]
    order = order[np.argsort(logged.estimates.value[order], kind="stable")]
    drawn, y = drawn_methods(evaluation), np.arange(order.size)
    figure, every = panels(len(drawn), height=1.2 + 0.17 * order.size, width=3.3, columns=3)
    for axes, (policy, method) in zip(every, drawn, strict=True):
        each = evaluation.by_task[policy, method].estimates
        value, low, high = each.value[order], each.low[order], each.high[order]
        axes.plot(
            logged.estimates.value[order],
            y,
            "|",
            color="#444444",
            markersize=8,
            markeredgewidth=1.6,
        )
        known, style = np.isfinite(low), {"color": COLOURS[method], "markersize": 3.5}
        axes.plot(value[~known], y[~known], "o", markerfacecolor="none", **style)
        axes.errorbar(
            value[known], y[known], xerr=np.stack([value - low, high - value])[:, known], fmt="o",
            linewidth=1.2, **style,
        )  # fmt: skip
        axes.set_yticks(y, [figure_name(evaluation.tasks[task]) for task in order], fontsize=8)
        axes.set_ylim(-0.7, order.size - 0.3)
        axes.set_xlim(*_limits(evaluation, [("logged", "logged"), *drawn], order))
        axes.locator_params(axis="x", nbins=4)
        axes.tick_params(axis="x", labelsize=8)
        axes.set_title(f"{figure_name(policy)}, {LABELS.get(method, method)}", fontsize=10)
        axes.grid(visible=False, axis="y")
    figure.supxlabel(f"mean reward, {100 * evaluation.confidence:g} % intervals", fontsize=10)
    return figure


def _limits(
    evaluation: Evaluation, drawn: list[tuple[str, str]], order: Indices
) -> tuple[float, float]:
    """The limits that hold all estimates and most intervals; a few long ones are cut."""
    estimates = [evaluation.by_task[pair].estimates for pair in drawn]
    value = np.concatenate([each.value[order] for each in estimates])
    low = np.concatenate([each.low[order] for each in estimates])
    high = np.concatenate([each.high[order] for each in estimates])
    left, right = np.nanmin(value), np.nanmax(value)
    if np.isfinite(low).any():
        left = min(left, np.nanpercentile(low, 10))
        right = max(right, np.nanpercentile(high, 90))
    margin = 0.05 * (right - left) or 1.0
    return float(left - margin), float(right + margin)


def drawn_methods(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The policies drawn task by task, each with the method to be trusted first.

    Replay answers another question, so it is drawn only where there is nothing else.
    """
    trusted = [(each.policy, each.method) for each in evaluation.trusted()]
    return [pair for pair in trusted if pair[1] != "replay"] or trusted
