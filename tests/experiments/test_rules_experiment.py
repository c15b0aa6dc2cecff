"""Rules in worlds of many shapes: rows, and curves that are read at their horizons."""

import numpy as np
import polars as pl
import pytest

from hierbandits import POLICIES, simulate
from hierbandits.experiments import rules
from hierbandits.simulation.schedules import Sequential


def test_rows_and_files_hold_the_same_regret(reports):
    report, folder, _ = reports("rules")
    frame = pl.read_parquet(folder / "regret.parquet")
    assert len({row["panel"] for row in report.rows}) == 14
    assert len(report.rows) == 14 * (len(rules.RULES) + 1)
    for row in report.rows[::7]:
        own, hier = (
            frame.filter((pl.col("world") == row["panel"]) & (pl.col("policy") == name))["regret"]
            for name in (row["policy"], "HierTS")
        )
        assert row["mean"] == pytest.approx(own.mean())
        assert row["ratio"] == pytest.approx(own.mean() / hier.mean())


def test_a_horizon_is_read_after_so_many_interactions_of_every_task(reports):
    """The regret at n = 20 is that of a study of 20 interactions in the same worlds."""
    report, _, _ = reports("rules")
    world = rules.World(rules.FORMS[0], 0.5, is_concurrent=False)
    study = simulate(
        world.form.bandit(0.5), ["HierTS"], Sequential(), 4, 1, num_interactions=20, progress=False
    )
    row = next(
        row for row in report.rows if row["panel"] == str(world) and row["policy"] == "HierTS"
    )
    assert row["mean"] == pytest.approx(study.mean("HierTS")[0])
    assert POLICIES["HierTS"].rule == rules.RULES["HierTS"]


def test_worlds_cross_and_some_take_each_noise_in_turn():
    assert len(set(rules.all_worlds(rules.FORMS))) == 36
    some = rules.some_worlds(rules.FORMS, widths_known=False)
    assert len(set(some)) == 12
    for concurrent in (False, True):
        noises = [world.noise_std for world in some if world.is_concurrent == concurrent]
        assert np.unique(noises, return_counts=True)[1].tolist() == [2, 2, 2]
