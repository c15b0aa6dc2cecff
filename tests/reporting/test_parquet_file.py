"""Tables in Parquet files."""

import polars as pl
import pytest

from hierbandits.reporting.parquet_file import write_parquet


def test_a_file_is_whole_or_not_there(tmp_path):
    frame = pl.DataFrame({"policy": ["a", "b"], "regret": [1.5, None], "run": [0, 1]})
    write_parquet(frame, tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet").equals(frame)
    with pytest.raises(FileNotFoundError):
        write_parquet(frame, tmp_path / "none" / "a.parquet")
