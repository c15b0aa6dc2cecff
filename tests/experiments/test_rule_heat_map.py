"""Heat maps show every ratio, in a figure for each set of worlds."""

import numpy as np

from hierbandits.experiments.rule_comparison import Cell
from hierbandits.experiments.rule_heat_map import heat_maps


def _cell(world, horizon, ratio):
    regret = np.array([1.0, 3.0])
    return Cell(world, horizon, {"HierTS": regret, "HierUCB": ratio * regret})


def test_horizons_of_the_same_worlds_share_a_figure():
    cells = [_cell(w, n, 0.5) for w in ("a", "b") for n in (20, 100)] + [_cell("a", 1000, 12.34)]
    maps = heat_maps(cells)
    assert list(maps) == [(20, 100), (1000,)]
    short, long = maps.values()
    plots = [plot for plot in short.axes if plot.get_title()]
    assert [plot.get_title() for plot in plots] == ["n = 20", "n = 100"]
    assert [label.get_text() for label in plots[0].get_yticklabels()] == ["a", "b"]
    (plot,) = (plot for plot in long.axes if plot.get_title())
    assert [text.get_text() for text in plot.texts] == ["1.00", "12"]


def test_a_cell_shows_its_own_ratio():
    cells = [_cell("a", 20, 0.5), _cell("b", 20, 2.25)]
    (figure,) = heat_maps(cells).values()
    plot = figure.axes[0]
    shown = {text.get_position(): text.get_text() for text in plot.texts}
    assert shown == {(0, 0): "1.00", (1, 0): ".50", (0, 1): "1.00", (1, 1): "2.25"}
    assert [label.get_text() for label in plot.get_xticklabels()] == ["HierTS", "HierUCB"]
