"""Duels of the default and its rivals: they go on until the errors of their ratios are small."""

import numpy as np
import pytest

from hierbandits.experiments.experiment import Options, StudyRunner
from hierbandits.experiments.rule_comparison import LARGEST_ERROR
from hierbandits.experiments.rule_duel import Duel, judge
from hierbandits.experiments.rule_game import FORMS, Game, World
from hierbandits.policies.recipes import USUAL

RIVAL = "HierTS"


def _duel(runs: int, most: int, horizons: tuple[int, ...] = (2, 4)) -> Duel:
    game = Game(World(FORMS[0], 0.5, is_concurrent=True), horizons, runs)
    cells = game.play(StudyRunner(Options(), 0), [USUAL, RIVAL])
    return Duel.of(game, [(cell, RIVAL) for cell in cells], most)


@pytest.fixture(scope="module")
def settled():
    duel = _duel(10, 1000)
    told: list[tuple[int, int | None]] = []
    judge(Options(progress=lambda done, total: told.append((done, total))), [duel])
    return duel, told


def test_a_duel_goes_on_until_all_errors_are_small(settled):
    duel, told = settled
    assert len({total for _, total in told}) > 1, "one part would not show that it goes on"
    assert duel.game.runs < duel.runs < duel.most
    assert all(cell.ratio(USUAL, RIVAL)[1] <= LARGEST_ERROR for cell in duel.cells)
    assert [cell.runs for cell in duel.cells] == [duel.runs] * 2


def test_no_run_is_counted_twice(settled):
    duel, _ = settled
    for cell in duel.cells:
        for regret in cell.regret.values():
            positive = regret[regret > 0]  # many short runs have none at all
            assert np.unique(positive).size == positive.size > 100


def test_a_duel_ends_where_no_more_runs_are_allowed():
    duel = _duel(10, 3)
    cells = judge(Options(), [duel])
    assert duel.runs == 30
    assert any(cell.ratio(USUAL, RIVAL)[1] > LARGEST_ERROR for cell in cells)


def test_progress_grows_and_ends_with_all_runs(settled):
    duel, told = settled
    done = [number for number, _ in told]
    assert done == sorted(done)
    assert done[-1] == duel.runs
    assert all(number <= total for number, total in told)


def test_the_same_seed_has_the_same_duel():
    first, second = (judge(Options(seed=3), [_duel(10, 20, (4,))]) for _ in range(2))
    assert np.array_equal(first[0].regret[USUAL], second[0].regret[USUAL])
