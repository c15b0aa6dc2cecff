"""The figures of an evaluation."""

from types import SimpleNamespace

import numpy as np
import polars as pl
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_figures import (
    cut_limits,
    differences_figure,
    drawn_methods,
    estimates_figure,
    replays_figure,
    tasks_figure,
)


def test_many_tasks_are_drawn_by_their_rows():
    rng = np.random.default_rng(2)
    wide = World.drawn(rng, tasks=60)
    evaluation = evaluate(wide.log(wide.rows(rng, 900)), ["uniform", "HierTS"], prior=wide.prior())
    assert drawn_methods(evaluation) == [("uniform", "dr")]
    figure = tasks_figure(evaluation)
    assert [len(axes.get_yticks()) for axes in figure.axes] == [40]


def test_replay_is_not_drawn_beside_frozen_policies():
    world = World.drawn(np.random.default_rng(0))
    log = world.log(world.rows(np.random.default_rng(7), 400))
    evaluation = evaluate(log, ["uniform", "best arm", "HierTS"], prior=world.prior())
    for figure in (differences_figure(evaluation), estimates_figure(evaluation)):
        names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert names == ["uniform", "best arm"]
    assert [axes.get_title() for axes in differences_figure(evaluation).axes] == [
        "more than the log",
        "more than the best single arm",
    ]
    alone = evaluate(log, ["HierTS"], prior=world.prior())
    assert drawn_methods(alone) == [("HierTS", "replay")]
    names = [label.get_text() for label in replays_figure(alone).axes[0].get_yticklabels()]
    assert names == ["HierTS"]


def test_an_interval_that_dwarfs_the_others_is_cut():
    world = World.drawn(np.random.default_rng(0))
    rows = world.rows(np.random.default_rng(7), 400)
    for lift, cut in ((0.0, False), (1000.0, True)):  # IPS alone depends on it
        log = world.log(rows.with_columns(pl.col("reward") + lift))
        evaluation = evaluate(log, ["HierOPO", "greedy"], prior=world.prior(hyper_mean=lift))
        left, right = estimates_figure(evaluation).axes[0].get_xlim()
        ips, dr = evaluation["HierOPO", "ips"], evaluation["HierOPO", "dr"]
        assert left < dr.low < dr.high < right
        assert (ips.high - ips.low > right - left) == cut
        assert ("Very long" in evaluation.report().html()) == cut


def test_estimates_that_are_all_one_number_are_cut_nowhere():
    """A log of zeros: its intervals have no length."""
    zero, one = SimpleNamespace(low=0.0, high=0.0), SimpleNamespace(low=0.0, high=1.0)
    assert cut_limits([zero, zero, zero]) is None
    assert cut_limits([zero, zero, zero, one]) is None
