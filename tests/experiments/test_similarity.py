"""Regret as tasks grow apart: rows and files."""

import pytest
from support.study_files import assert_rows_match, totals


def test_every_width_has_its_rows_and_its_file(reports):
    report, folder, _ = reports("similarity")
    widths = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
    for width in widths:
        rows = {row["policy"]: row for row in report.rows if row["sigma_0"] == width}
        assert_rows_match(rows, totals(folder / f"tasks_{width:g}.parquet", "policy"))
    assert [row["sigma_0"] for row in report.rows] == [w for w in widths for _ in range(4)]


@pytest.mark.parametrize(("width", "better", "worse"), [(0.02, "PooledTS", "TS"),
                                                        (1.0, "TS", "PooledTS")])  # fmt: skip
def test_pooling_wins_where_tasks_are_alike_and_loses_where_they_differ(
    reports, width, better, worse
):
    report, _, _ = reports("similarity")
    mean = {row["policy"]: row["mean"] for row in report.rows if row["sigma_0"] == width}
    assert mean[better] < mean[worse]
    assert mean["HierTS"] < mean[worse]
