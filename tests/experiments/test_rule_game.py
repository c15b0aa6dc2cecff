"""Worlds in which rules play, and their regret at each horizon."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hierbandits import simulate
from hierbandits.experiments.experiment import Options, StudyRunner
from hierbandits.experiments.rule_game import (
    BY_HORIZON,
    FORMS,
    NUM_TASKS,
    Game,
    World,
    all_worlds,
    some_worlds,
)
from hierbandits.policies.recipes import USUAL
from hierbandits.simulation.schedules import Federated, Sequential


def test_worlds_cross_and_some_take_each_noise_in_turn():
    assert len(set(all_worlds(FORMS))) == 36
    some = some_worlds(FORMS, widths_known=False)
    assert len(set(some)) == 12
    for concurrent in (False, True):
        noises = [world.noise_std for world in some if world.is_concurrent == concurrent]
        assert np.unique(noises, return_counts=True)[1].tolist() == [2, 2, 2]


def test_the_worlds_of_a_study_have_names_of_their_own():
    worlds = [
        *all_worlds(FORMS),
        *some_worlds(FORMS, widths_known=False),
    ]
    assert len({str(world) for world in worlds}) == len(worlds)
    assert str(World(FORMS[3], 0.1, True, False)) == (
        "d = 2, fresh, L = all, noise 0.1, widths unknown"
    )


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_world_has_the_arms_of_its_form(form):
    bandit = form.bandit(0.5)
    prior = bandit.prior
    assert prior.is_armed == (form.num_features is None)
    assert prior.dim == (form.num_features or form.num_arms)
    assert bandit.num_tasks == NUM_TASKS
    if not prior.is_armed:
        assert bandit.actions.num_arms == form.num_arms
        assert bandit.actions.per == ("round" if form.is_fresh else "run")


@pytest.mark.parametrize("is_concurrent", [False, True])
@pytest.mark.parametrize("horizons", [(3, 7), (4, 12)])
def test_a_horizon_has_the_regret_of_a_study_that_ends_there(is_concurrent, horizons):
    game = Game(World(FORMS[2], 0.5, is_concurrent), horizons, 3)
    runner = StudyRunner(Options(seed=2), game.steps(["HierTS"]))
    cells = game.play(runner, ["HierTS"])
    schedule = Federated() if is_concurrent else Sequential()
    assert [cell.horizon for cell in cells] == list(horizons)
    for horizon, cell in zip(horizons, cells, strict=True):
        study = simulate(
            FORMS[2].bandit(0.5), ["HierTS"], schedule, 3, 2,
            num_interactions=horizon, progress=False,
        )  # fmt: skip
        assert_array_equal(cell.regret["HierTS"], study.outcomes["HierTS"].curve[:, -1])


def test_a_bound_that_is_told_the_horizon_plays_once_for_each():
    game = Game(World(FORMS[0], 0.5, is_concurrent=True), (2, 20), 2)
    names = [USUAL, BY_HORIZON]
    assert game.steps([USUAL]) == 2
    assert game.steps(names) == 6  # the default once, the bound twice
    done = []
    runner = StudyRunner(Options(progress=lambda now, total: done.append((now, total))), 6)
    short, long = game.play(runner, names)
    assert done[-1] == (6, 6)
    alone = Game(game.world, (2,), 2).play(StudyRunner(Options(), 0), names)
    assert_array_equal(short.regret[BY_HORIZON], alone[0].regret[BY_HORIZON])
    assert set(short.regret) == set(long.regret) == set(names)


def test_widths_are_told_or_not():
    known, unknown = (
        Game(World(FORMS[0], 0.5, True, told), (20,), 4).play(StudyRunner(Options(), 0), ["HierTS"])
        for told in (True, False)
    )
    assert not np.array_equal(known[0].regret["HierTS"], unknown[0].regret["HierTS"])
