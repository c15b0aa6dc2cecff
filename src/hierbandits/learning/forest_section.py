"""Every task's arms, one below the other: a forest plot, and a search for one task."""

from functools import partial
from typing import Any

import numpy as np

from hierbandits.algebra import normal_quantile
from hierbandits.learning.learning_figures import BLUE, GREY, note_on_shown
from hierbandits.learning.sections import Section
from hierbandits.learning.sentence import listed
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.figure import panels
from hierbandits.reporting.interval_lookup import IntervalLookup
from hierbandits.reporting.rounding import short_number, to_its_error
from hierbandits.reporting.shown_name import figure_name
from hierbandits.types import Indices

MOST_DRAWN, MOST_PANELS = 24, 6  # tasks of a panel, and panels
REACH = normal_quantile(0.95)  # of an interval, in standard deviations


def forest_section(shrinkage: Shrinkage, similarity: Similarity) -> Section:
    """The posterior of each task's arm, in order, beside what its population has in common.

    Arms are left out whose width is not told: what a task's own is there, the log cannot say.
    """
    what, rows = _what(similarity), []
    for j in _shown(similarity)[: 5 * MOST_PANELS]:
        order = np.argsort(shrinkage.mean[:, j], kind="stable")
        ends = [_cell(shrinkage, int(s), j) for s in (order[0], order[-1])]
        middle = float(np.median(shrinkage.mean[:, j]))
        name = str(shrinkage.coordinates[j])
        rows.append([name, *ends[0], f"{middle:.3g}", *ends[1]])
    return Section(
        name="forest",
        heading=f"Every task, {what} by {what}",
        columns=(what, "lowest task", "mean, 95 %", "middle task", "highest task", "mean, 95 %"),
        rows=rows,
        words=[
            f"What is known of each task's {what}s, given its own rows and all others, with the "
            f"widths that fit best. All tasks are in tasks.parquet.{_left_out(similarity)}"
        ],
        draw=partial(draw_forest, shrinkage, similarity),
        caption=_caption(shrinkage, similarity),
        brief=False,
    )


def lookup(shrinkage: Shrinkage, similarity: Similarity, first: Indices) -> str:
    """The part of the page that finds a task by its name; if there are many, `first` are there."""
    shown = _shown(similarity)
    plot = IntervalLookup(
        item="task",
        group=_what(similarity),
        items=shrinkage.tasks,
        groups=[shrinkage.coordinates[j] for j in shown],
        homes=similarity.populations,
        remarks=[f"{rows:,.0f} row{'' if rows == 1 else 's'}" for rows in shrinkage.rows],
        home=shrinkage.population,
        mean=shrinkage.mean[:, shown],
        reach=REACH * shrinkage.std[:, shown],
        home_mean=similarity.mean[:, shown],
        home_reach=REACH * similarity.mean_std[:, shown],
    )
    by_rows = np.argsort(-shrinkage.rows, kind="stable")
    order = np.append(first, by_rows[~np.isin(by_rows, first)])
    return plot.html(
        order, "they stand out or have the most rows, and tasks.parquet has all of them"
    )


def draw_forest(shrinkage: Shrinkage, similarity: Similarity) -> Any:
    """A panel for each arm: the tasks in order of their means, with 95 % intervals."""
    shown = _shown(similarity)[:MOST_PANELS]
    size = min(len(shrinkage.tasks), MOST_DRAWN)
    figure, plots = panels(len(shown), height=1.3 + 0.19 * size, width=3.6, columns=3)
    for axes, j in zip(plots, shown, strict=True):
        for p in range(len(similarity.populations)):
            mean, reach = similarity.mean[p, j], REACH * similarity.mean_std[p, j]
            axes.axvspan(mean - reach, mean + reach, color=GREY, alpha=0.2, linewidth=0)
            axes.axvline(mean, color=GREY, linewidth=1.0)
        order = shown_tasks(shrinkage, j)
        mean, reach = shrinkage.mean[order, j], REACH * shrinkage.std[order, j]
        places = np.arange(order.size, dtype=float)
        if order.size < len(shrinkage.tasks):
            places[order.size // 2 :] += 1.0  # a gap for those that are left out
            axes.axhline(order.size // 2, color=GREY, linestyle=":", linewidth=0.8)
        axes.errorbar(mean, places, xerr=reach, fmt="o", markersize=3.5, color=BLUE, linewidth=1.2)
        labels = [figure_name(shrinkage.tasks[s]) for s in order]
        axes.set_yticks(places, labels, fontsize=7)
        axes.set_ylim(-0.7, places[-1] + 0.7)
        axes.set_title(figure_name(shrinkage.coordinates[j]), fontsize=10)
        axes.grid(visible=False, axis="y")
    figure.supxlabel("mean reward" if similarity.is_armed else "coefficient", fontsize=10)
    return figure


def shown_tasks(shrinkage: Shrinkage, coordinate: int) -> Indices:
    """The tasks of a panel, the lowest first: all, or the lowest and the highest."""
    order = np.argsort(shrinkage.mean[:, coordinate], kind="stable")
    if order.size <= MOST_DRAWN:
        return order
    half = MOST_DRAWN // 2
    return np.append(order[:half], order[-half:])


def _caption(shrinkage: Shrinkage, similarity: Similarity) -> str:
    """What this log shows of its tasks."""
    names, what, shown = shrinkage.coordinates, _what(similarity), _shown(similarity)
    gap = np.ptp(shrinkage.mean[:, shown], axis=0)
    widest, narrowest = (int(shown[place]) for place in (gap.argmax(), gap.argmin()))
    apart = f"By these estimates tasks are furthest apart with {figure_name(names[widest])}"
    apart = apart.replace(r"\$", "$")
    low, high = (float(end(shrinkage.mean[:, widest])) for end in (np.min, np.max))
    text = f"{apart}, from {short_number(low)} to {short_number(high)}"
    if widest != narrowest:
        nearest = figure_name(names[narrowest]).replace(r"\$", "$")
        low, high = (float(end(shrinkage.mean[:, narrowest])) for end in (np.min, np.max))
        text += f", and closest with {nearest}, from {short_number(low)} to {short_number(high)}"
    text += ". Points are posterior means and bars 95 % intervals; grey is what "
    text += "tasks" if len(similarity.populations) == 1 else "each population's tasks"
    text += " have in common."
    if len(shrinkage.tasks) > MOST_DRAWN:
        half, left = MOST_DRAWN // 2, len(shrinkage.tasks) - MOST_DRAWN
        text += f" The {half} lowest and the {half} highest tasks are shown, and {left:,} are not."
    return text + note_on_shown([names[j] for j in shown], MOST_PANELS, f"{what}s")


def _cell(shrinkage: Shrinkage, task: int, coordinate: int) -> list[str]:
    mean, reach = shrinkage.mean[task, coordinate], REACH * shrinkage.std[task, coordinate]
    ends = f"{mean - reach:.3g} to {mean + reach:.3g}"
    return [str(shrinkage.tasks[task]), f"{to_its_error(mean, reach)} ({ends})"]


def _shown(similarity: Similarity) -> Indices:
    """The arms or features of which the log tells how tasks differ."""
    return np.flatnonzero(similarity.told)


def _left_out(similarity: Similarity) -> str:
    """Which arms or features are not shown."""
    names = similarity.named(~similarity.told)
    if not names:
        return ""
    return f" How tasks differ with {listed(names)}, the log cannot tell: that is left out."


def _what(similarity: Similarity) -> str:
    return "arm" if similarity.is_armed else "feature"
