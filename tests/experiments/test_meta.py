"""One task after another: rows and files."""

import polars as pl
import pytest
from support.study_files import assert_rows_match, totals


@pytest.mark.parametrize("width", [0.1, 0.3])
def test_the_files_of_meta_hold_what_its_rows_say(reports, width):
    report, folder, _ = reports("meta")
    rows = {row["policy"]: row for row in report.rows if row["sigma_0"] == width}
    assert set(rows) == {"HierTS", "TS", "OracleTS", "PooledTS"}
    assert_rows_match(rows, totals(folder / f"tasks_{width:g}.parquet", "policy"))


def test_later_tasks_start_with_what_earlier_ones_taught(reports):
    """The regret of HierTS in the last ten tasks is far below that in the first; TS's is not."""
    _, folder, _ = reports("meta")
    tasks = pl.read_parquet(folder / "tasks_0.1.parquet")
    mean = {
        (name, late): tasks.filter(
            (pl.col("policy") == name) & (pl.col("task") >= 10 if late else pl.col("task") == 0)
        )["regret"].mean()
        for name in ("HierTS", "TS")
        for late in (True, False)
    }
    assert mean["HierTS", True] < 0.5 * mean["HierTS", False]
    assert mean["TS", True] > 0.5 * mean["TS", False]
