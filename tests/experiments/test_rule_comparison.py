"""Rules against the best rule of each cell."""

import numpy as np
import pytest

from hierbandits.experiments.rule_comparison import Cell, Comparison


def _cell(world, horizon=20, **regret):
    runs = {name: np.array(values, float) for name, values in regret.items()}
    return Cell(world, horizon, {"HierTS": np.full(4, 10.0)} | runs)


def test_the_best_is_picked_on_one_half_and_judged_on_the_other():
    cell = _cell("w", a=[4, 4, 9, 9], b=[5, 5, 6, 6])
    (verdict,) = Comparison([cell]).verdicts("b")
    assert (verdict.best, verdict.ratio, verdict.error) == ("a", pytest.approx(2 / 3), 0.0)
    assert verdict.is_near
    (own,) = Comparison([cell]).verdicts("HierTS")
    assert own.ratio == pytest.approx(10 / 9)
    assert not own.is_near


def test_a_rule_with_too_much_regret_anywhere_is_nowhere_the_best():
    cells = [_cell("w", a=[1, 1, 1, 1], b=[5, 5, 5, 5]), _cell("v", a=[21] * 4, b=[20] * 4)]
    comparison = Comparison(cells)
    assert comparison.excluded == ["a"]
    assert [verdict.best for verdict in comparison.verdicts("a")] == ["b", "HierTS"]
    assert comparison.spread("b") == (pytest.approx(1.0), 0.5, 2.0)


def test_the_frame_has_every_regret():
    frame = Comparison([_cell("w", a=[1, 2, 3, 4]), _cell("w", 100, a=[5, 6, 7, 8])]).frame()
    assert frame.height == 16
    own = frame.filter((frame["policy"] == "a") & (frame["n"] == 100))
    assert own["regret"].to_list() == [5.0, 6.0, 7.0, 8.0]
    assert own["run"].to_list() == [0, 1, 2, 3]


def test_the_rival_is_the_best_of_the_others_that_are_allowed():
    cells = [
        _cell("w", a=[1, 1, 1, 1], b=[4, 4, 4, 4], c=[5] * 4),
        _cell("v", a=[21] * 4, b=[9] * 4, c=[8] * 4),
    ]
    assert Comparison(cells).rivals("b") == ["c", "c"]
    assert Comparison(cells).rivals("c") == ["b", "b"]


def test_a_ratio_of_twice_the_error_needs_four_times_the_runs():
    cell = _cell("w", a=[9, 10, 11, 10])
    _, error = cell.ratio("a", "HierTS")
    assert cell.runs_needed("a", "HierTS") == int(np.ceil(4 * (error / 0.02) ** 2))
    assert _cell("w", a=[8, 10, 12, 10]).runs_needed("a", "HierTS") == pytest.approx(
        4 * cell.runs_needed("a", "HierTS"), abs=4
    )
    assert _cell("w", a=[5, 5, 5, 5]).runs_needed("a", "HierTS") == 0
