"""Widths unknown: the ratio to knowing the truth."""

import numpy as np
import polars as pl
from support.study_files import assert_rows_match, totals


def test_the_adaptive_rows_say_the_ratio_to_knowing_the_truth(reports):
    report, folder, _ = reports("adaptive")
    tasks = pl.read_parquet(folder / "tasks_0.3.parquet")
    sums = tasks.group_by("policy", "run").agg(pl.col("regret").sum()).sort("run")
    own, truth = (
        sums.filter(pl.col("policy") == name)["regret"].to_numpy()
        for name in ("AdaptiveHierTS", "HierTS")
    )
    row = next(
        row for row in report.rows if row["sigma_0"] == 0.3 and row["policy"] == "AdaptiveHierTS"
    )
    np.testing.assert_allclose(row["ratio"], own.mean() / truth.mean())
    # The delta method: the variance of own / truth near their means, with their covariance.
    (a, c), (_, b) = np.cov(own, truth) / len(own)
    r = own.mean() / truth.mean()
    error = np.sqrt(a - 2 * r * c + r**2 * b) / truth.mean()
    np.testing.assert_allclose(row["ratio_error"], error)


def test_the_files_of_adaptive_hold_what_its_rows_say(reports):
    report, folder, _ = reports("adaptive")
    for width in (0.02, 1.0):
        rows = {row["policy"]: row for row in report.rows if row["sigma_0"] == width}
        assert len(rows) == 5
        assert_rows_match(rows, totals(folder / f"tasks_{width:g}.parquet", "policy"))
