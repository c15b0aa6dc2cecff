"""A picture for each finding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hierbandits.learning.calibration import BINS, CONFIDENCES, Calibration, Cells
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.task_similarity import Similarity
from hierbandits.learning.width_grid import log_weights
from hierbandits.reporting.figure import legend_of_names, panels
from hierbandits.reporting.rounding import in_percent
from hierbandits.reporting.shown_name import figure_name
from hierbandits.types import Name

MOST_COORDINATES, MOST_POPULATIONS = 24, 8  # of a picture
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#888888"


def draw_widths(similarity: Similarity) -> Any:
    """What tasks have in common, and how far each is from it."""
    names = [figure_name(name) for name in similarity.coordinates[:MOST_COORDINATES]]
    size = len(names)
    figure, (left, right) = panels(2, height=1.6 + 0.28 * size)
    rows = np.arange(size)[::-1]
    many = len(similarity.populations) > 1
    populations = similarity.populations[:MOST_POPULATIONS]
    for p in range(len(populations)):
        nudge = 0.0 if not many else 0.5 * (p / len(populations) - 0.4)
        mean, low, high = (
            part[p, :size] for part in (similarity.mean, similarity.mean_low, similarity.mean_high)
        )
        left.errorbar(
            mean, rows - nudge, xerr=[mean - low, high - mean], fmt="o", markersize=4, capsize=2,
            color=None if many else BLUE,
        )  # fmt: skip
    if many:
        shown = [figure_name(population) for population in populations]
        legend_of_names(left, left.containers, shown, frameon=False, fontsize=8)
    sure = in_percent(similarity.confidence)
    left.set(title="what tasks have in common", xlabel=f"mean, {sure} interval")
    std, low, high = (
        part[:size] for part in (similarity.task_std, similarity.task_low, similarity.task_high)
    )
    high = np.where(np.isinf(high), 5 * np.fmax.reduce(std), high)  # no limit: past the others
    ends = np.maximum(np.nan_to_num([std - low, high - std], nan=0.0), 0.0)
    right.errorbar(std, rows, xerr=ends, fmt="o", markersize=4, capsize=2, color=ORANGE)
    if similarity.noise_of_arms is None:
        right.axvline(similarity.noise_std, color=GREY, linestyle=":", label="noise")
    else:
        right.plot(similarity.noise_of_arms[:size], rows, "|", color=GREY, ms=12, label="noise")
    right.set(title="how far tasks differ", xlabel=f"task std, {sure} interval")
    right.set_xlim(0, None)
    right.legend(frameon=False, fontsize=8)
    for axes in (left, right):
        axes.set_yticks(rows, names)
        axes.set_ylim(-0.6, size - 0.4)
    return figure


def draw_evidence(comparison: Comparison) -> Any:
    """The log evidence of the three models, and what the hierarchy's widths may be."""
    figure, (left, right) = panels(2)
    logs = comparison.log_evidence
    best = max(logs.values())
    gaps = [best - value for value in logs.values()]
    colours = [BLUE if name == comparison.best else GREY for name in logs]
    bars = left.barh(list(logs), gaps, color=colours)
    words = [f"p = {share:.2g}" if share else "p ≈ 0" for share in comparison.probability.values()]
    left.bar_label(bars, words, padding=4)
    left.set(title="log evidence below the best", xlabel="difference")
    left.set_xlim(0, 1.35 * max(*gaps, 1.0))
    if max(gaps) > 1000:
        left.set_xscale("symlog", linthresh=10)
        left.set_xlim(0, 20 * max(gaps))
    left.invert_yaxis()
    for axis, grid, colour in (
        ("task", comparison.task_widths, ORANGE),
        ("hyper", comparison.hyper_widths, BLUE),
    ):
        mass = comparison.masses[f"hierarchical {axis}"]
        density = mass / np.exp(log_weights(grid))
        right.plot(grid, density / density.max(), color=colour, label=f"{axis} width")
    right.set(
        title="the hierarchy's widths", xlabel=comparison.scale,
        ylabel="relative density", xscale="log", ylim=(0, 1.05),
    )  # fmt: skip
    right.legend(frameon=False)
    return figure


def draw_shrinkage(shrinkage: Shrinkage) -> Any:
    """How much of each task's estimate comes from the others, against its rows."""
    figure, (axes,) = panels(1, width=6.0)
    seen = shrinkage.rows > 0
    dots = {"s": 14 if seen.sum() <= 1000 else 4, "alpha": 0.6, "linewidths": 0}
    axes.scatter(shrinkage.rows[seen], shrinkage.weight[seen], color=BLUE, **dots)
    axes.set(
        title="weight of what other tasks say", xlabel="rows of the task",
        ylabel="weight (1: no data of its own)", ylim=(0, 1.02),
    )  # fmt: skip
    if shrinkage.rows[seen].max() > 20 * shrinkage.rows[seen].min():
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    return figure


def draw_outliers(outliers: Outliers) -> Any:
    """The tasks' p-values in order, against what is expected if all tasks fit."""
    figure, (axes,) = panels(1, width=6.0)
    order = np.argsort(outliers.p_value, kind="stable")
    p = np.maximum(outliers.p_value[order], 1e-300)
    expected = -np.log10((np.arange(p.size) + 0.5) / p.size)
    flagged = outliers.flagged[order]
    height = -np.log10(p)
    axes.plot(expected, expected, color=GREY, linestyle=":", label="as expected")
    axes.scatter(expected[~flagged], height[~flagged], s=14, color=BLUE, linewidths=0)
    if flagged.any():
        axes.scatter(
            expected[flagged], height[flagged], s=22, color=ORANGE, linewidths=0, label="flagged"
        )
    for i in range(min(5, int(flagged.sum()))):
        axes.annotate(
            figure_name(outliers.tasks[order[i]]), (expected[i], height[i]), xytext=(-6, 0),
            textcoords="offset points", ha="right", va="center", fontsize=8,
        )  # fmt: skip
    axes.set(title="p-value of each task", xlabel="expected −log10 p", ylabel="−log10 p")
    axes.set(xlim=(0, 1.08 * expected.max()), ylim=(0, None))
    axes.legend(frameon=False, loc="upper left")
    return figure


def draw_calibration(calibration: Calibration) -> Any:
    """Where held-out rewards fell in their predictions, and how often intervals covered them."""
    figure, (left, right) = panels(2)
    edges = np.linspace(0, 1, BINS + 1)
    lines: list[tuple[str, Calibration | Cells, str]] = [("rows", calibration, BLUE)]
    if calibration.cells is not None:
        lines.append(("means", calibration.cells, ORANGE))
    for name, part, colour in lines:
        relative = part.histogram / part.histogram.mean()
        left.stairs(relative, edges, color=colour, label=name, linewidth=1.6)
        right.errorbar(
            CONFIDENCES, part.coverage, part.coverage_error, marker="o", markersize=4, capsize=2,
            color=colour, label=name,
        )  # fmt: skip
    left.axhline(1.0, color=GREY, linestyle=":")
    left.set(
        title="held-out rewards in their predictions",
        xlabel="predicted probability of a smaller reward",
    )
    left.set(ylabel="relative frequency", ylim=(0, None), xlim=(0, 1))
    right.plot([0.45, 1], [0.45, 1], color=GREY, linestyle=":", label="as stated")
    right.set(title="what intervals cover", xlabel="stated", ylabel="covered", xlim=(0.45, 1.0))
    low = min(float((part.coverage - part.coverage_error).min()) for _, part, _ in lines)
    right.set_ylim(min(0.45, low - 0.02), 1.02)
    for axes in (left, right):
        axes.legend(frameon=False)
    return figure


def note_on_shown(names: Sequence[Name], most: int, plural: str) -> str:
    """A sentence if a picture does not show all of these names, otherwise nothing."""
    return "" if len(names) <= most else f" The first {most} of {len(names)} {plural} are shown."
