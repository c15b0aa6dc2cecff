"""How arms or features move together, as the page shows it: words, tables and a picture."""

from typing import Any

import numpy as np

from hierbandits.fitting.structure_choice import LOW_RANK, StructureChoice, kind_and_rank
from hierbandits.learning import verdict
from hierbandits.learning.captions import of_correlations
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.learning_figures import MOST_COORDINATES, note_on_shown
from hierbandits.learning.sections import Section
from hierbandits.learning.sentence import texts
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.figure import panels
from hierbandits.reporting.shown_name import figure_name

MOST_COLUMNS = 12  # of the table of correlations
MEANING = {
    "scalar": "one width for all",
    "diagonal": "a width for each",
    "common": "a width for each, and a part in common",
    "full": "widths and any correlations",
}


def _meaning(name: str) -> str:
    kind, rank = kind_and_rank(name)
    if kind != LOW_RANK:
        return MEANING[kind]
    factors = "a factor that arms load on" if rank == 1 else f"{rank} factors that arms load on"
    return f"a width for each, and {factors}"


def together_sections(
    correlations: Correlations | None, choice: StructureChoice | None, similarity: Similarity
) -> list[Section]:
    """The structures that were compared, and the correlations that were learned, if any."""
    sentences = verdict.on_correlations(correlations, choice, similarity)
    words = texts(sentences + verdict.on_not_sought(choice, similarity))
    shown = []
    if choice is not None:
        shown.append(_structures(choice, words))
    if correlations is not None:
        shown.append(_correlations(correlations, words if choice is None else [], similarity))
    return shown


def _structures(choice: StructureChoice, words: list[str]) -> Section:
    noise = {False: "one", True: "one for each arm"}
    logs = {False: choice.log_marginal, True: choice.by_arm}
    best = logs[choice.has_noise_by_arm][choice.best_name]
    rows = [
        [
            kind, _meaning(kind), *([noise[by_arm]] if choice.by_arm else []),
            str(choice.numbers[kind]), f"{logs[by_arm][kind]:.2f}",
            f"{logs[by_arm][kind] - best:.2f}", f"{share:.3g}",
        ]
        for by_arm, shares in choice.probabilities.items()
        for kind, share in shares.items()
    ]  # fmt: skip
    return Section(
        name="structure",
        heading="Which widths and correlations the log supports",
        columns=("structure", "task covariance", *(["noise"] if choice.by_arm else []), "numbers",
                 "log evidence", "below the best", "probability"),
        rows=rows,
        words=[
            *words,
            "Widths and correlations are integrated out, by Laplace's method, so that more of them "
            f"must pay for themselves. {choice.num_tasks:,} tasks were compared; the fit has the "
            "structure of highest evidence.",
        ],
    )  # fmt: skip


def _correlations(correlations: Correlations, words: list[str], similarity: Similarity) -> Section:
    names, what = correlations.coordinates, "arm" if similarity.is_armed else "feature"
    shown = [str(name) for name in names[:MOST_COLUMNS]]
    rows = [
        [str(name), *(f"{value:.2f}" for value in row[: len(shown)])]
        for name, row in zip(names[:MOST_COLUMNS], correlations.matrix, strict=False)
    ]
    more = [] if len(names) <= MOST_COLUMNS else ["All correlations are in report.json."]
    return Section(
        name="correlations",
        heading=f"How the {what}s of a task move together",
        columns=(what, *shown),
        rows=rows,
        words=[*words, *more],
        draw=lambda: draw_correlations(correlations),
        caption=of_correlations(correlations, what)
        + note_on_shown(names, MOST_COORDINATES, f"{what}s"),
        brief=len(names) <= 6,  # a terminal is narrow
    )


def draw_correlations(correlations: Correlations) -> Any:
    """The correlations as a map of colours."""
    names = [figure_name(name) for name in correlations.coordinates[:MOST_COORDINATES]]
    size = len(names)
    side = 2.2 + 0.32 * size
    figure, (axes,) = panels(1, width=side + 1.2, height=side)
    matrix = correlations.matrix[:size, :size]
    image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    if size <= MOST_COLUMNS:
        for i, j in np.ndindex(matrix.shape):
            colour = "white" if abs(matrix[i, j]) > 0.6 else "black"
            axes.text(j, i, f"{matrix[i, j]:.2f}", ha="center", va="center", color=colour,
                      fontsize=7)  # fmt: skip
    axes.set_xticks(range(size), names, rotation=60, ha="right")
    axes.set_yticks(range(size), names)
    axes.set_title("correlation over tasks")
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure
