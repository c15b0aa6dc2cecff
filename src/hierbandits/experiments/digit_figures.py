"""The figures of the digits: regret for each digit, and what HierTS has learned of it."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from hierbandits.environments.images import Images
from hierbandits.reporting.figure import panels
from hierbandits.simulation.plots import regret_curves
from hierbandits.simulation.study import Study
from hierbandits.types import Matrix, Vector

COLUMNS = 5  # of regret plots


def regret_figure(studies: Mapping[int, Study]) -> Any:
    """Regret against rounds, a plot for each digit."""
    figure, axes = panels(len(studies), height=2.7, width=2.7, columns=COLUMNS)
    for place, (plot, (digit, study)) in enumerate(zip(axes, studies.items(), strict=True)):
        regret_curves(plot, study, f"digit {digit}")
        if place > 0:
            plot.get_legend().remove()  # the same as in the first
            plot.set(ylabel="regret" if place % COLUMNS == 0 else "")
    return figure


def learned_figure(
    studies: Mapping[int, Study], oracles: Mapping[int, Vector], test: Images, every: int
) -> Any:
    """The mean of HierTS's hyper-posterior every so many rounds of the first run, and mu_* last.

    Each is shown above the test picture that it values most; `oracles` are mu_* of each digit.
    """
    from matplotlib.figure import Figure

    columns = min(2, len(studies))
    rows = ceil(len(studies) / columns)
    figure = Figure(figsize=(6.6 * columns, 1.5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for plot in axes.flat[len(studies) :]:
        plot.set_axis_off()
    for plot, (digit, study) in zip(axes.flat, studies.items(), strict=False):
        learned = study.outcomes["HierTS"].snapshots[0]
        tiles = strip([*learned, oracles[digit]], test)
        names = [str(every * (shot + 1)) for shot in range(len(learned))] + ["$\\mu_*$"]
        width = tiles.shape[1] / len(names)
        plot.imshow(tiles)
        plot.set_xticks([(i + 0.5) * width for i in range(len(names))], names, fontsize=8)
        plot.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
        plot.set_yticks([])
        plot.set_ylabel(f"digit {digit}")
        plot.spines[:].set_visible(False)
    return figure


def strip(parameters: Sequence[Vector], test: Images) -> Matrix:
    """Colours of two rows of tiles: parameters, and the best test picture under each."""
    from matplotlib import colormaps

    tiles = []
    for mu in parameters:
        full = np.quantile(abs(mu), 0.95)  # a few pixels at the edge would drown the rest
        shades = colormaps["RdBu_r"](0.5 + 0.5 * mu / full)[:, :3]
        best = test.pictures[(test.features @ mu).argmax()]
        block = len(best) // test.side
        above = shades.reshape(test.side, test.side, 3).repeat(block, 0).repeat(block, 1)
        below = np.repeat(best[:, :, None] / best.max(), 3, axis=2)
        edge = max(1, len(best) // 16)
        pad = ((edge, edge), (edge, edge), (0, 0))
        tiles.append(np.vstack([np.pad(t, pad, constant_values=1.0) for t in (above, below)]))
    return np.hstack(tiles)
