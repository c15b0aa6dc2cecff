"""polars frames become pandas frames, and nothing else is needed for it."""

from datetime import date, datetime

import polars as pl
import pytest
from support.processes import python

from hierbandits.reporting.pandas_frame import as_pandas


def test_columns_of_every_kind_arrive():
    pandas = pytest.importorskip("pandas")
    columns = {
        "i": [1, 2], "f": [0.5, None], "b": [True, False], "s": ["a", None],
        "l": [[1.0], [2.0, 3.0]], "d": [date(2024, 3, 14), None],
        "t": [datetime(2024, 3, 14, 9), datetime(2024, 3, 15)], "n": [None, 3],
        "maybe": [True, None],
    }  # fmt: skip
    frame = as_pandas(pl.DataFrame(columns))
    assert list(frame.columns) == list(columns)
    assert [frame[name].dtype.kind for name in "ifbtdn"] == list("ifbMMf")
    assert frame["i"].tolist() == [1, 2]
    assert frame["s"].isna().tolist() == [False, True]
    assert frame["l"].tolist() == [[1.0], [2.0, 3.0]]
    assert frame["t"][0] == pandas.Timestamp("2024-03-14 09:00")
    assert frame["maybe"].isna().tolist() == [False, True]


def test_pyarrow_is_not_needed_and_pandas_is_asked_for_by_name():
    code = """
import sys
sys.modules["{missing}"] = None
import polars as pl
from hierbandits.reporting.pandas_frame import as_pandas
try:
    print(as_pandas(pl.DataFrame({{"a": ["x"], "y": [1.5]}})).values.tolist())
except ImportError as error:
    print(error)
"""
    pytest.importorskip("pandas")
    assert python("-c", code.format(missing="pyarrow")).stdout == "[['x', 1.5]]\n"
    assert python("-c", code.format(missing="pandas")).stdout == (
        "to_pandas needs pandas: pip install pandas\n"
    )
