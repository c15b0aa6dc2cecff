"""What each picture of a report shows, in the numbers of this log."""

import numpy as np

from hierbandits.learning.calibration import CELL_ROWS, CONFIDENCES, Calibration
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.promises import Promises
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.rounding import in_percent, short_number, short_percents
from hierbandits.reporting.shown_name import shown_name


def of_widths(similarity: Similarity) -> str:
    """The widest and the narrowest task width, beside the noise; only those that are told."""
    std, names, told = similarity.task_std, similarity.coordinates, similarity.told
    bars = f"Bars are {in_percent(similarity.confidence)} intervals"
    if not told.any():
        return (
            "Left, what tasks have in common; how far a task's own parameter is from it, this log "
            f"cannot tell. {bars}."
        )
    widest, least = int(np.nanargmax(std)), int(np.nanargmin(std))
    wide, narrow = f"{std[widest]:.3g}", f"{std[least]:.3g}"
    unsure, noise = int(similarity.maybe_zero[told].sum()), f"is {similarity.noise_std:.3g}"
    names_of = [shown_name(names[place]) for place in (widest, least)]
    text = f"By these estimates tasks differ most with {names_of[0]}, by a width of {wide}"
    text += f", and least with {names_of[1]}, by {narrow}"
    if unsure == told.sum():
        text = f"Tasks may not differ: estimates are {wide} for {names_of[0]} and less for others"
    if wide == narrow:
        which = "all arms" if similarity.is_armed else "all features"
        which = names_of[0] if told.sum() == 1 else which
        text = f"Tasks differ by a width of {wide} with {which}, by these estimates"
        if unsure == told.sum():
            text = f"Tasks may not differ: the estimate is {wide} for {which}"
    noises = similarity.noise_of_arms
    if noises is not None:
        noise = f"is from {np.nanmin(noises):.3g} to {np.nanmax(noises):.3g}, by arm"
    return (
        f"{text}; the noise of one reward {noise}. Left, what tasks have in "
        f"common; right, how far a task's own parameter is from it. {bars}"
        + (
            f"; the log does not tell {unsure} of {told.sum()} widths from zero, whose bars begin "
            "there."
            if unsure
            else ", and none of the widths has one that begins at zero."
        )
    )


def of_evidence(comparison: Comparison) -> str:
    """How far behind the best model the others are."""
    logs, best = comparison.log_evidence, comparison.best
    behind = [
        f"{name} {short_number(logs[best] - value)}" for name, value in logs.items() if name != best
    ]
    return (
        f"In log evidence, {' and '.join(behind)} below {best}, which is best. Left, each model's "
        "log evidence below the best, with its probability; right, which widths of the hierarchy "
        "the log supports."
    )


def of_shrinkage(shrinkage: Shrinkage) -> str:
    """The tasks with fewest and with most rows, or all of them if they have as many."""
    least, most = (f"{short_percents(float(end(shrinkage.weight)))} %" for end in (np.min, np.max))
    if np.ptp(shrinkage.rows) == 0:
        share = least if least == most else f"{least} to {most}"
        rows = f"{shrinkage.rows[0]:,.0f} row{'' if shrinkage.rows[0] == 1 else 's'}"
        return (
            f"Every task has {rows}, and takes {share} of its estimate from other tasks. Every "
            "point is a task."
        )
    few, many = int(shrinkage.rows.argmin()), int(shrinkage.rows.argmax())
    ends = [
        f"{shown_name(shrinkage.tasks[task])}, with {shrinkage.rows[task]:,.0f} of them, takes "
        f"{short_percents(shrinkage.weight[task])} % of its estimate from other tasks"
        for task in (few, many)
    ]
    return f"Of fewest rows, {ends[0]}; of most, {ends[1]}. Every point is a task."


def of_outliers(outliers: Outliers) -> str:
    """How many tasks are flagged, and the smallest p-value."""
    first, size = int(outliers.p_value.argmin()), len(outliers.tasks)
    return (
        f"{int(outliers.flagged.sum())} of {size:,} tasks are flagged. The smallest p-value is "
        f"{outliers.p_value[first]:.2g}, of {shown_name(outliers.tasks[first])}; of {size:,} tasks "
        f"that all fit it would be about {1 - 0.5 ** (1 / size):.2g}. Points far above the line do "
        "not fit."
    )


def of_calibration(calibration: Calibration) -> str:
    """What the intervals of one confidence cover."""
    place = CONFIDENCES.index(0.9)
    shares = [
        f"{100 * part.coverage[place]:.1f} ± {100 * part.coverage_error[place]:.1f} %"
        for part in (calibration, calibration.cells)
        if part is not None
    ]
    text = f"The 90 % intervals cover {shares[0]} of {calibration.rows:,} held-out rewards"
    means = ""
    if calibration.cells is not None:
        text += f" and {shares[1]} of {calibration.cells.count:,} means"
        means = (
            f" Means are those of {CELL_ROWS} held-out rewards or more, of a task and arm, or of a "
            "task where there are features."
        )
    return (
        f"{text}. Left, where held-out rewards fell in their predictive distributions: flat if the "
        "model is right. Right, what share of them the intervals cover, with bars of one standard "
        f"error.{means}"
    )


def of_correlations(correlations: Correlations, what: str) -> str:
    """The lowest and the highest correlation, and of which arms they are."""
    matrix, names = correlations.matrix, correlations.coordinates
    rows, columns = np.triu_indices(len(names), 1)
    pairs = matrix[rows, columns]
    ends = []
    for word, at in (("lowest", int(pairs.argmin())), ("highest", int(pairs.argmax()))):
        both = f"{shown_name(names[rows[at]])} and {shown_name(names[columns[at]])}"
        ends.append(f"{word} between {both}, {pairs[at]:.2f}")
    which = f"of the two {what}s is {pairs[0]:.2f}"
    if pairs.size > 1:
        which = f"is {' and '.join(ends)}"
    return (
        f"The correlation {which}. Where it is high, a task that is better than usual with one "
        f"{what} is so with the other."
    )


def of_promises(promises: Promises, start: str, confidence: float) -> str:
    """The regret of all who play, at the horizon."""
    parts = []
    for tasks, number in promises.num_tasks.items():
        kind = "new tasks" if tasks == "new" else "tasks of the log"
        means = [
            f"{name} {short_number(promises.of(tasks, name).beside)}" for name in promises.policies
        ]
        parts.append(f"in {number} {kind}, {', '.join(means)}")
    return (
        f"Regret of a task after {promises.rounds}, on average over {promises.runs} "
        f"worlds and the tasks in which all play: {'; '.join(parts)}. The band is where that of "
        f"{start} lies in {100 * confidence:g} % of the worlds."
    )
