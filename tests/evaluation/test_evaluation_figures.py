"""The figures of an evaluation."""

import numpy as np
import polars as pl
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_figures import drawn_methods, estimates_figure, tasks_figure


def test_many_tasks_are_drawn_by_their_rows():
    rng = np.random.default_rng(2)
    wide = World.drawn(rng, tasks=60)
    evaluation = evaluate(wide.log(wide.rows(rng, 900)), ["uniform", "HierTS"], prior=wide.prior())
    assert drawn_methods(evaluation) == [("uniform", "dr"), ("HierTS", "replay")]
    figure = tasks_figure(evaluation)
    assert [len(axes.get_yticks()) for axes in figure.axes] == [40, 40]


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
