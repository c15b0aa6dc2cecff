"""The figures of the digits."""

import numpy as np

from hierbandits.environments.images import Images, downsampled
from hierbandits.experiments.digit_figures import learned_figure, regret_figure, strip
from hierbandits.simulation.study import Outcome, Study


def _pictures(rng):
    pictures = rng.integers(0, 200, (50, 8, 8), np.uint8)
    return Images(pictures, np.zeros(50, int), downsampled(pictures, 4, white=255))


def _study(rng):
    """Two rounds kept of two runs, and three snapshots of a parameter of four pixels."""
    curve, none = np.array([[1.0, 2.0], [3.0, 6.0]]), np.full(2, np.nan)
    outcome = Outcome(curve, curve, none, none, rng.standard_normal((2, 3, 4)), 0.0)
    return Study(np.array([1, 240]), {"HierTS": outcome})


def test_a_strip_shows_each_parameter_above_its_best_picture():
    rng = np.random.default_rng(0)
    shown = _pictures(rng)
    parameters = rng.standard_normal((3, 4))
    tiles = strip(parameters, shown)
    assert tiles.shape == (20, 30, 3)
    for i, mu in enumerate(parameters):
        above, below = tiles[1:9, 10 * i + 1 : 10 * i + 9], tiles[11:19, 10 * i + 1 : 10 * i + 9]
        red = above[:, :, 0] > above[:, :, 2]
        np.testing.assert_array_equal(red, (mu > 0).reshape(2, 2).repeat(4, 0).repeat(4, 1))
        best = shown.pictures[max(range(50), key=lambda k: shown.features[k] @ mu)]
        np.testing.assert_allclose(below, np.stack([best / best.max()] * 3, axis=2))


def test_regret_has_a_plot_for_each_digit_and_one_legend():
    rng = np.random.default_rng(0)
    figure = regret_figure({digit: _study(rng) for digit in (3, 1, 4, 0, 5, 9)})
    plots = [plot for plot in figure.axes if plot.axison]
    assert [plot.get_title() for plot in plots] == [f"digit {d}" for d in (3, 1, 4, 0, 5, 9)]
    assert [plot.get_legend() is not None for plot in plots] == [True] + [False] * 5
    assert [plot.get_ylabel() for plot in plots] == ["regret", "", "", "", "", "regret"]
    (line,) = plots[2].lines
    np.testing.assert_allclose(line.get_ydata(), [2.0, 4.0])  # the mean over runs


def test_what_was_learned_is_of_the_first_run_with_the_oracle_last():
    rng = np.random.default_rng(0)
    shown = _pictures(rng)
    studies = {digit: _study(rng) for digit in (7, 2, 5)}
    oracles = {digit: rng.standard_normal(4) for digit in studies}
    figure = learned_figure(studies, oracles, shown, 80)
    plots = [plot for plot in figure.axes if plot.axison]
    for plot, (digit, study) in zip(plots, studies.items(), strict=True):
        assert plot.get_ylabel() == f"digit {digit}"
        labels = [label.get_text() for label in plot.get_xticklabels()]
        assert labels == ["80", "160", "240", "$\\mu_*$"]
        learned = study.outcomes["HierTS"].snapshots[0]
        (image,) = plot.get_images()
        np.testing.assert_array_equal(image.get_array(), strip([*learned, oracles[digit]], shown))
