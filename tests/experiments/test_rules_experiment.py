"""Rules in worlds of many shapes: rows, and curves that are read at their horizons."""

import polars as pl
import pytest

from hierbandits import POLICIES, simulate
from hierbandits.experiments import rule_game
from hierbandits.simulation.schedules import Sequential


def test_rows_and_files_hold_the_same_regret(reports):
    report, folder, _ = reports("rules")
    frame = pl.read_parquet(folder / "regret.parquet")
    assert len({row["panel"] for row in report.rows}) == 14
    assert len(report.rows) == 14 * (len(rule_game.RULES) + 1)
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
    world = rule_game.World(rule_game.FORMS[0], 0.5, is_concurrent=False)
    study = simulate(
        world.form.bandit(0.5), ["HierTS"], Sequential(), 4, 1, num_interactions=20, progress=False
    )
    row = next(
        row for row in report.rows if row["panel"] == str(world) and row["policy"] == "HierTS"
    )
    assert row["mean"] == pytest.approx(study.mean("HierTS")[0])
    assert POLICIES["HierTS"].rule == rule_game.RULES["HierTS"]
