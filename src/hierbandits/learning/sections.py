"""The page that a person reads: each finding as words, a table and a picture."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.learning import learning_figures as pictures
from hierbandits.learning import verdict
from hierbandits.learning.calibration import LEVELS, Calibration
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.savings import Savings
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.rounding import to_its_error

ROWS = 30  # of a table


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


def similarity_section(found: Similarity) -> Section:
    """How similar tasks are."""
    many = len(found.populations) > 1
    what = "arm" if found.is_armed else "feature"
    columns = [what, *(["between populations"] if many else ["mean", "± std"])]
    columns += ["task std", "95 % from", "to", "share between tasks", "rewards to equal"]
    rows = []
    for j, name in enumerate(found.coordinates[:ROWS]):
        mean, std = float(found.mean[0, j]), float(found.mean_std[0, j])
        first = [to_its_error(mean, std), _g(std)]
        if found.hyper_std is not None:
            first = [_g(found.hyper_std[j])]
        width = [_g(part[j]) for part in (found.task_std, found.task_low, found.task_high)]
        shares = [f"{100 * found.share[j]:.2g} %", _g(found.rewards_to_equal[j])]
        rows.append([str(name), *first, *width, *shares])
    noise = f"Noise: std {_g(found.noise_std)}"
    if found.noise_low is not None and found.noise_high is not None:
        noise += f", 95 % from {_g(found.noise_low)} to {_g(found.noise_high)}"
    noise += f". The fit took {found.iterations} iterations"
    noise += "." if found.converged else " and did not converge."
    if len(found.coordinates) > ROWS:
        noise += f" {len(found.coordinates) - ROWS} more {what}s are in report.json."
    return Section(
        name="widths",
        heading="How similar tasks are",
        columns=columns,
        rows=rows,
        words=[*verdict.on_similarity(found), noise],
        draw=lambda: pictures.widths(found),
        caption="Left, what tasks have in common; right, how far a task's own parameter is from "
        "it, beside the noise of one reward. Bars are 95 % intervals; one that starts at zero "
        "belongs to a width that the log does not tell from zero."
        + pictures.first_names(found.coordinates),
    )  # fmt: skip


def comparison_section(found: Comparison) -> Section:
    """Pooled, hierarchical or independent."""
    logs, typical = found.log_evidence, found.typical
    rows = [
        [name, f"{logs[name]:.2f}", f"{logs[name] - logs[found.best]:.2f}", f"{share:.3g}"]
        + ["" if width == 0 else _g(width) for width in typical[name]]
        for name, share in found.probability.items()
    ]
    words = [
        *verdict.on_models(found),
        "Widths are integrated out, log-uniform from "
        f"{_g(found.task_widths[0])} to {_g(found.task_widths[-1])} in units of the noise; the "
        "last two columns are typical ones. Each model is as probable as any other beforehand.",
    ]
    if found.edges:
        words.append(
            f"Some of the weight lies at an end of these widths ({', '.join(found.edges)}): at the "
            "low end the model is hardly told from the simpler one without that width."
        )
    return Section(
        name="evidence",
        heading="Pooled, hierarchical or independent",
        columns=("model", "log evidence", "short of best", "probability", "task width", "hyper"),
        rows=rows,
        words=words,
        draw=lambda: pictures.evidence(found),
        caption="Left, by how much the log evidence of each model falls short of the best, with "
        "its probability; right, which widths of the hierarchy the log supports.",
    )


def shrinkage_section(found: Shrinkage) -> Section:
    """How much each task leans on the others."""
    order = np.argsort(-found.weight, kind="stable")[: ROWS // 3]
    rows = [[str(found.tasks[s]), f"{found.rows[s]:.0f}", _g(found.weight[s])] for s in order]
    points = found.quantiles()
    return Section(
        name="shrinkage",
        heading="How much each task leans on the others",
        columns=("task", "rows", "weight of others"),
        rows=rows,
        words=[
            "The weight of what other tasks say in a task's estimate, from "
            f"{_g(points['least'])} to {_g(points['most'])}, median {_g(points['median'])}; the "
            f"{len(rows)} tasks that lean most are listed, all are in tasks.parquet."
        ],
        draw=lambda: pictures.shrinkage(found),
        caption="The fewer rows a task has, the more of its estimate comes from the others.",
        brief=False,
    )


def outliers_section(found: Outliers) -> Section:
    """Tasks that the others do not explain."""
    order = np.argsort(found.p_value, kind="stable")[: max(5, min(ROWS, int(found.flagged.sum())))]
    rows = [
        [
            str(found.tasks[s]), _g(found.surprise[s]), str(found.freedom[s]), _g(found.p_value[s]),
            _g(found.adjusted[s]), str(found.coordinates[found.odd[s]]), f"{found.odd_z[s]:+.2f}",
            "yes" if found.flagged[s] else "",
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
            *verdict.on_outliers(found),
            "Each task is left out in turn and its data compared with what the others say of it; "
            "of the flagged, 5 % at most are false alarms on average.",
        ],
        draw=lambda: pictures.outliers(found),
        caption="Each task's p-value against that expected of tasks that all fit. Points far above "
        "the line do not.",
    )


def calibration_section(found: Calibration) -> Section:
    """Whether predictions hold."""
    cells = found.cells
    rows = []
    for i, level in enumerate(LEVELS):
        row = [f"{100 * level:g} % intervals hold", f"{100 * found.coverage[i]:.1f} %"]
        row.append(f"{100 * found.coverage_error[i]:.1f}")
        if cells is not None:
            row.append(f"{100 * cells.coverage[i]:.1f} %")
            row.append(f"{100 * cells.coverage_error[i]:.1f}")
        rows.append(row)
    words = verdict.on_calibration(found)[:-1]
    words.append(f"{found.rows} rows were held out of the fit to the other {found.training_rows}.")
    if cells is not None:
        words[-1] += (
            f" {cells.count} means, of ten held-out rewards or more, have z-scores of standard "
            f"deviation {_g(cells.z_std)} about their predictions."
        )
    return Section(
        name="calibration",
        heading="Whether predictions hold",
        columns=("", "rows", "± s.e.", "means", "± s.e.")[: len(rows[0])],
        rows=rows,
        words=words,
        draw=lambda: pictures.calibration(found),
        caption="Left, where held-out rewards fell in their predictive distributions: flat if the "
        "model is right. Right, what share of them the intervals held, with bars of one standard "
        "error. Means are those of ten held-out rewards or more, of a task and arm, or of a task "
        "where there are features.",
    )


def scores_section(found: Calibration) -> Section:
    """How well each model predicts."""
    rows = []
    for name, score in found.log_score.items():
        gain = found.gain.get(name)
        more = ["", ""] if gain is None else [f"{gain[0]:+.4f}", f"{gain[1]:.4f}"]
        rows.append([name, f"{score:.4f}", *more, _g(found.rmse[name])])
    return Section(
        name="scores",
        heading="Which model predicts best",
        columns=("model", "log score per row", "hierarchy's gain", "± s.e.", "RMSE"),
        rows=rows,
        words=[
            verdict.on_calibration(found)[-1],
            "All three are fitted to the training rows; a log score is the log of the density "
            "that the model gave to what happened.",
        ],
    )


def savings_section(found: Savings, similarity: Similarity) -> Section:
    """What sharing would save."""
    saved = {saving.over: saving for saving in found.savings}
    rows = []
    for name in found.study.outcomes:
        mean, error = found.regret(name)
        row = [name, f"{mean:.4g}", f"{error:.2g}"]
        if name in saved:
            saving = saved[name]
            row += [f"{saving.difference:+.4g}", f"{saving.difference_error:.2g}"]
            row += [f"{saving.percent:+.1f} %", f"{saving.percent_error:.1f}"]
        rows.append(row + [""] * (7 - len(row)))
    columns = ("policy", "regret", "± s.e.", "HierTS saves", "± s.e. (paired)", "of it", "± s.e.")
    return Section(
        name="regret",
        heading="What sharing would save",
        columns=columns,
        rows=rows,
        words=[
            *verdict.on_savings(found, similarity),
            f"{found.num_tasks} tasks (at most 50) act in each of {found.num_rounds} rounds (at "
            "most 100), in worlds drawn from what was learned, in which nobody but OracleTS knows "
            "what the tasks have in common. An agent that starts from the learned prior is between "
            "HierTS and OracleTS.",
        ],
        draw=lambda: pictures.regret(found),
        caption="Cumulative regret over all tasks, with bands of one standard error.",
    )


def _g(value: float) -> str:
    return f"{value:.3g}"
