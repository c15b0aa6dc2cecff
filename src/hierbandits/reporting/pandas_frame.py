"""Frames for pandas, where it is installed; pyarrow is not needed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def as_pandas(frame: "pl.DataFrame") -> Any:
    """A polars frame as a pandas one: numbers and dates as arrays, all else as Python's objects.

    Missing integers and booleans become NaN and None, as pandas has them without Arrow.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas") from None
    return pandas.DataFrame({series.name: _column(series) for series in frame})


def _column(series: "pl.Series") -> Any:
    kind = series.dtype
    if kind.is_numeric() or kind.is_temporal():
        return series.to_numpy()
    if kind.base_type().__name__ == "Boolean" and series.null_count() == 0:
        return series.to_numpy()
    return series.to_list()
