"""Widths of many shapes, unknown."""

import numpy as np
import polars as pl
import pytest

from hierbandits.experiments.shapes import ASIDE, QUICK, REFERENCE, SHAPES


def test_the_rows_of_shapes_say_the_ratio_to_knowing_the_truth(reports):
    report, folder, _ = reports("shapes")
    tasks = pl.read_parquet(folder / "tasks.parquet")
    assert {row["panel"] for row in report.rows} == {shape.name for shape in QUICK}
    rows = [row for row in report.rows if row["policy"] != REFERENCE]
    for row in rows:
        mine = tasks.filter((pl.col("world") == row["panel"]) & (pl.col("policy") == row["policy"]))
        truth = tasks.filter((pl.col("world") == row["panel"]) & (pl.col("policy") == "HierTS"))
        ratio = mine["regret"].sum() / truth["regret"].sum()
        np.testing.assert_allclose(row["ratio"], ratio)
    hard = {row["panel"] for row in report.rows if row["policy"] == REFERENCE}
    assert hard == {shape.name for shape in QUICK if shape.hard} != set()


@pytest.mark.parametrize("shape", [*SHAPES, *ASIDE], ids=lambda shape: shape.name)
def test_a_world_has_the_widths_that_its_shape_states(shape):
    prior = shape.world().hierarchy
    table = np.eye(prior.dim)
    if shape.offset is not None:  # in terms of centred features the widths are the shape's
        table[1:, 0] = shape.offset
    np.testing.assert_allclose(table.T @ prior.task_cov @ table, shape.task_cov, atol=1e-9)
    np.testing.assert_allclose(table.T @ prior.hyper_cov @ table, np.eye(prior.dim), atol=1e-9)
    assert prior.noise_std == shape.noise_std
