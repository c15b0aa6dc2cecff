"""What the Parquet files of an experiment say about its regrets."""

import numpy as np
import polars as pl
import pytest


def totals(path, *keys):
    """The final regret of every run of each study in a file of tasks, by the study's labels."""
    sums = pl.read_parquet(path).group_by(*keys, "run").agg(pl.col("regret").sum())
    by_study = {}
    for *labels, _, regret in sums.sort(*keys, "run").iter_rows():
        by_study.setdefault(labels[0] if len(keys) == 1 else tuple(labels), []).append(regret)
    return {labels: np.array(regrets) for labels, regrets in by_study.items()}


def assert_rows_match(rows, regrets):
    """The mean and the standard error of each row are those of its study's regrets."""
    assert set(rows) == set(regrets)
    for labels, row in rows.items():
        values = regrets[labels]
        assert row["runs"] == values.size
        assert row["mean"] == pytest.approx(values.mean())
        assert row["standard_error"] == pytest.approx(values.std(ddof=1) / np.sqrt(values.size))
