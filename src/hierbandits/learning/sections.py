"""The page that a person reads: each finding as words, a table and a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.learning import captions, verdict
from hierbandits.learning import learning_figures as pictures
from hierbandits.learning.calibration import CELL_ROWS, CONFIDENCES, Calibration
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import FALSE_ALARMS, Outliers
from hierbandits.learning.sentence import texts
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.similarity_verdict import on_similarity
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.rounding import in_percent, short_percents, to_its_error

ROWS = 30  # of a table
NOT_TOLD = "not told"  # in place of a number that the log does not have


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Section:
    """One finding."""

    name: str  # of its figure's files
    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str]
    draw: Callable[[], Any] | None = None
    caption: str = ""
    brief: bool = True  # whether the terminal shows the table


def similarity_section(similarity: Similarity) -> Section:
    """How similar tasks are."""
    many = len(similarity.populations) > 1
    what = "arm" if similarity.is_armed else "feature"
    columns = [what, *(["between populations"] if many else ["mean", "± std"])]
    sure = in_percent(similarity.confidence)
    columns += ["task std", f"{sure} from", "to", "share between tasks", "rewards to match others"]
    noises = similarity.noises_with_ends
    columns += [] if noises is None else ["noise std", "95 % from", "to"]
    rows = []
    for j, name in enumerate(similarity.coordinates[:ROWS]):
        mean, std = float(similarity.mean[0, j]), float(similarity.mean_std[0, j])
        first = [to_its_error(mean, std), _short(std)]
        if similarity.hyper_std is not None:
            first = [_short(similarity.hyper_std[j])]
        width = [
            _short(part[j])
            for part in (similarity.task_std, similarity.task_low, similarity.task_high)
        ]
        shares = [
            f"{short_percents(similarity.share[j])} %",
            _short(similarity.rewards_to_equal[j]),
        ]
        noise_cells = [] if noises is None else [_short(part[j]) for part in noises]
        every = (*first, *width, *shares, *noise_cells)
        cells = [NOT_TOLD if "nan" in cell else cell for cell in every]
        rows.append([str(name), *cells])
    noise = f"Noise: std {_short(similarity.noise_std)}"
    noise += "" if noises is None else ", the root mean square over rewards"
    if not similarity.is_noise_told:
        noise = "Noise: not told"
    elif similarity.noise_low is not None and similarity.noise_high is not None:
        noise += f", 95 % from {_short(similarity.noise_low)} to {_short(similarity.noise_high)}"
    noise += f". The fit took {similarity.iterations} iterations"
    noise += "." if similarity.converged else " and did not converge."
    if similarity.confidence < 0.9499:
        noise += (
            f" With so few tasks, intervals of means and task widths are meant to hold in {sure} "
            f"of logs, and those of widths do in {100 * similarity.held_without_noise:.0f} % where "
            "noise is small: longer ones would say little."
        )
    if len(similarity.coordinates) > ROWS:
        noise += f" {len(similarity.coordinates) - ROWS} more {what}s are in report.json."
    return Section(
        name="widths",
        heading="How similar tasks are",
        columns=columns,
        rows=rows,
        words=[*texts(on_similarity(similarity)), noise],
        draw=lambda: pictures.draw_widths(similarity),
        caption=captions.of_widths(similarity)
        + pictures.note_on_shown(similarity.coordinates, pictures.MOST_COORDINATES, f"{what}s")
        + pictures.note_on_shown(similarity.populations, pictures.MOST_POPULATIONS, "populations"),
    )  # fmt: skip


def comparison_section(comparison: Comparison, similarity: Similarity) -> Section:
    """Pooled, hierarchical or independent."""
    logs, typical, told = comparison.log_evidence, comparison.typical, similarity.told.any()
    rows = [
        [name, f"{logs[name]:.2f}", f"{logs[name] - logs[comparison.best]:.2f}", f"{share:.3g}"]
        + ["" if width == 0 else _short(width) if told else NOT_TOLD for width in typical[name]]
        for name, share in comparison.probability.items()
    ]
    words = [
        *texts(verdict.on_models(comparison, similarity)),
        f"Widths are integrated out, log-uniform from {_short(comparison.task_widths[0])} to "
        f"{_short(comparison.task_widths[-1])} {comparison.scale}; the last two "
        "columns are typical ones. Each model is as probable as any other beforehand.",
    ]
    if comparison.edges:
        words.append(
            "Some of the probability lies at an end of these widths "
            f"({', '.join(comparison.edges)}). At the low end a model is nearly the simpler one "
            "without that width."
        )
    return Section(
        name="evidence",
        heading="Pooled, hierarchical or independent",
        columns=("model", "log evidence", "below the best", "probability", "task width", "hyper"),
        rows=rows,
        words=words,
        draw=lambda: pictures.draw_evidence(comparison),
        caption=captions.of_evidence(comparison),
    )


def shrinkage_section(shrinkage: Shrinkage) -> Section:
    """How much each task leans on the others."""
    order = np.argsort(-shrinkage.weight, kind="stable")[: ROWS // 3]
    rows = [
        [str(shrinkage.tasks[s]), f"{shrinkage.rows[s]:.0f}", _short(shrinkage.weight[s])]
        for s in order
    ]
    points = shrinkage.quantiles()
    return Section(
        name="shrinkage",
        heading="How much each task leans on the others",
        columns=("task", "rows", "weight of others"),
        rows=rows,
        words=[
            "How much of a task's estimate comes from other tasks: from "
            f"{_short(points['least'])} to {_short(points['most'])}, median "
            f"{_short(points['median'])}. The {len(rows)} tasks that lean most are listed; all are "
            "in tasks.parquet."
        ],
        draw=lambda: pictures.draw_shrinkage(shrinkage),
        caption=captions.of_shrinkage(shrinkage),
        brief=False,
    )


def outliers_section(outliers: Outliers) -> Section:
    """Tasks that the others do not explain."""
    order = np.argsort(outliers.p_value, kind="stable")[
        : max(5, min(ROWS, int(outliers.flagged.sum())))
    ]
    rows = [
        [
            str(outliers.tasks[s]), _short(outliers.surprise[s]), str(outliers.freedom[s]),
            _short(outliers.p_value[s]), _short(outliers.adjusted[s]),
            str(outliers.coordinates[outliers.odd[s]]), f"{outliers.odd_z[s]:+.2f}",
            "yes" if outliers.flagged[s] else "",
        ]
        for s in order
    ]  # fmt: skip
    columns = ("task", "chi-squared", "df", "p", "adjusted", "most surprising", "z", "flagged")
    return Section(
        name="outliers",
        heading="Tasks that the others do not explain",
        columns=columns,
        rows=rows,
        words=[
            *texts(verdict.on_outliers(outliers)),
            "Each task is left out in turn and its data compared with what the others say of it, "
            "where p allows for skewed rewards and for tails; of the flagged, "
            f"{100 * FALSE_ALARMS:g} % at most are meant to be false alarms on average.",
        ],
        draw=lambda: pictures.draw_outliers(outliers),
        caption=captions.of_outliers(outliers),
    )


def calibration_section(calibration: Calibration) -> Section:
    """Whether predictions hold."""
    cells = calibration.cells
    rows = []
    for i, confidence in enumerate(CONFIDENCES):
        row = [f"{100 * confidence:g} % intervals cover", f"{100 * calibration.coverage[i]:.1f} %"]
        row.append(f"{100 * calibration.coverage_error[i]:.1f}")
        if cells is not None:
            row.append(f"{100 * cells.coverage[i]:.1f} %")
            row.append(f"{100 * cells.coverage_error[i]:.1f}")
        rows.append(row)
    words = texts(verdict.on_calibration(calibration))
    words.append(
        f"{calibration.rows} rows were held out of the fit to the other "
        f"{calibration.training_rows}."
    )
    if cells is not None:
        words[-1] += (
            f" {cells.count} means, of {CELL_ROWS} held-out rewards or more, have z-scores of "
            f"standard deviation {_short(cells.z_std)} about their predictions."
        )
    return Section(
        name="calibration",
        heading="Whether predictions hold",
        columns=("", "rows", "± s.e.", "means", "± s.e.")[: len(rows[0])],
        rows=rows,
        words=words,
        draw=lambda: pictures.draw_calibration(calibration),
        caption=captions.of_calibration(calibration),
    )


def scores_section(calibration: Calibration) -> Section:
    """How well each model predicts."""
    rows = []
    for name, score in calibration.log_score.items():
        better = calibration.advantage.get(name)
        more = ["", ""] if better is None else [f"{better[0]:+.4f}", f"{better[1]:.4f}"]
        rows.append([name, f"{score:.4f}", *more, _short(calibration.rmse[name])])
    return Section(
        name="scores",
        heading="Which model predicts best",
        columns=("model", "log score per row", "hierarchy's advantage", "± s.e.", "RMSE"),
        rows=rows,
        words=[
            *texts(verdict.on_scores(calibration)),
            "All three are fitted to the training rows; a log score is the log of the density "
            "that the model gave to what happened.",
        ],
    )


def _short(value: float) -> str:
    """A number in three digits."""
    return "no limit" if value == np.inf else f"{value:.3g}"
