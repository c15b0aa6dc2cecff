"""Figures of plots side by side."""

import pytest

from hierbandits.reporting.figure import legend_of_names, panels


def test_plots_fill_rows_and_spare_places_are_empty():
    figure, axes = panels(7, columns=5)
    assert (len(axes), len(figure.axes)) == (7, 10)
    assert [plot.axison for plot in figure.axes] == [True] * 7 + [False] * 3
    assert len(panels(1)[1]) == 1


@pytest.mark.parametrize(
    ("count", "columns", "size"), [(3, None, (13.0, 3.4)), (3, 2, (8.8, 6.8)), (2, 5, (8.8, 3.4))]
)
def test_a_figure_grows_with_its_rows_and_columns(count, columns, size):
    figure, axes = panels(count, columns=columns)
    assert len(axes) == count
    assert tuple(figure.get_size_inches()) == pytest.approx(size)


def test_plots_have_a_grid_and_no_frame_above_and_to_the_right():
    _, (plot,) = panels(1)
    shown = {side: spine.get_visible() for side, spine in plot.spines.items()}
    assert shown == {"left": True, "bottom": True, "right": False, "top": False}
    assert all(line.get_visible() for line in plot.get_xgridlines())


def test_a_legend_has_names_that_begin_with_an_underscore():
    _, (plot,) = panels(1)
    lines = plot.plot([0, 1], [[0, 1], [1, 0]])
    legend_of_names(plot, lines, ["_north", "south"], frameon=False)
    shown = [text.get_text() for text in plot.get_legend().get_texts()]
    assert shown == ["_north", "south"]
