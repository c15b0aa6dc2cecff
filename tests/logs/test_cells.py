"""Bad cells are named with their column and row, in every kind of source."""

import re

import numpy as np
import polars as pl
import pytest
from support.log_sources import ARMS, BATCH, FEATURES, KINDS, ROWS, as_source, full_frame

from hierbandits.logs import Columns, Log, Reading
from hierbandits.logs.cells import tidied

BAD = {
    "null task": ("task", None, "task must not be missing"),
    "null arm": ("arm", None, "arm must not be missing"),
    "null reward": ("reward", None, "reward must not be missing"),
    "NaN reward": ("reward", np.nan, "reward must (not be missing|be finite)"),
    "infinite reward": ("reward", np.inf, "reward must be finite"),
    "huge reward": ("reward", -1e70, r"reward must be finite and at most 1e\+60 in size"),
    "unknown arm": ("arm", "q", "arm must be one of 'c', 'a', 'b'"),
    "null feature": ("x1", None, "features must not be missing"),
    "NaN feature": ("x1", np.nan, "features must (not be missing|be finite)"),
    "infinite feature": ("x2", -np.inf, "features must be finite"),
    "null propensity": ("p", None, "propensity must not be missing"),
    "zero propensity": ("p", 0.0, r"propensity must be in \(0, 1\]"),
    "large propensity": ("p", 1.5, r"propensity must be in \(0, 1\]"),
    "null id": ("id", None, "decision must not be missing"),
    "same id": ("id", "d3", r"decision must be different in every row \(row 3 has it too\)"),
    "null time": ("when", None, "time must not be missing"),
    "null country": ("country", None, "population must not be missing"),
    "moved task": ("country", "se", "population must stay 'fi' for task 't1'"),
}


def _shown(value, kind):
    """How an error shows a cell: a CSV has its text, pandas has NaN for a missing number."""
    if kind == "csv" and isinstance(value, float):
        return f"'{value}'".replace("nan", "NaN")
    return "(None|nan)" if kind == "pandas" and value in (None, np.nan) else repr(value)


@pytest.mark.parametrize("batch_rows", [BATCH, 10 * ROWS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_cell_is_named_with_its_row(name, kind, batch_rows, tmp_path):
    column, value, must = BAD[name]
    row = 331
    frame = full_frame(np.random.default_rng(3)).with_columns(
        task=pl.Series(["t1" if i == row else f"t{i % 7}" for i in range(ROWS)]),
        country=pl.Series(["fi" if i == row or i % 7 % 2 else "no" for i in range(ROWS)]),
    )
    cells = frame[column].to_list()
    cells[row] = value
    source = as_source(kind, frame.with_columns(pl.Series(column, cells)), tmp_path)
    played = {"features": FEATURES} if column[0] == "x" else {"arm": "arm"}
    columns = Columns(
        task="task",
        reward="reward",
        population="country",
        decision="id",
        propensity="p",
        time="when",
        **played,
    )
    arms = ARMS if "arm" in played else None
    log = Log.read(source, columns, arms=arms, batch_rows=batch_rows)
    got = _shown(value, kind).replace("+", r"\+?")
    with pytest.raises(
        ValueError, match=f"^{must}.*, got {got} in column '{column}' at row {row}$"
    ):
        log.sums()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow", "parquet"])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ([1.0, 2.0], "features must be lists of 3 numbers, got [1.0, 2.0] in column 'x'"),
        ([], "features must be lists of 3 numbers, got [] in column 'x'"),
        (None, "features must not be missing, got None in column 'x'"),
        ([1.0, None, 2.0], "features must not be missing, got None in column 'x'"),
        ([1.0, 2.0, np.nan], "features must not be missing, got nan in column 'x'"),
        ([np.inf, 2.0, 1.0], "features must be finite and at most 1e+60 in size, got inf"),
    ],
)
def test_a_ragged_or_broken_list_of_features_is_named_with_its_row(kind, cell, message, tmp_path):
    frame = full_frame(np.random.default_rng(4))
    cells = frame["x"].to_list()
    cells[77] = cell
    frame = frame.with_columns(pl.Series("x", cells, dtype=pl.List(pl.Float64)))
    columns = Columns(task="task", features="x", reward="reward")
    log = Log.read(as_source(kind, frame, tmp_path), columns, batch_rows=BATCH)
    with pytest.raises(ValueError, match=re.escape(message) + ".* at row 77$"):
        log.sums()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (["a", "q"], "arm must be one of 'c', 'a', 'b', got 'q' in column 'may' at row 2"),
        (["c", "b"], "arm must be among the eligible arms, got 'a' in column 'arm' at row 2"),
        ([], "eligible must hold at least one arm, got [] in column 'may' at row 2"),
        (None, "eligible must not be missing, got None in column 'may' at row 2"),
        (["a", None], "arm must not be missing, got None in column 'may' at row 2"),
    ],
)
def test_bad_eligible_arms_are_named_with_their_row(cell, message):
    may = [["a"], ["a", "b"], cell, ["a"]]
    frame = pl.DataFrame({"task": [1] * 4, "arm": ["a"] * 4, "reward": [1.0] * 4, "may": may})
    columns = Columns(task="task", arm="arm", reward="reward", eligible="may")
    with pytest.raises(ValueError, match=re.escape(message)):
        Log.read(frame, columns, arms=ARMS, batch_rows=2).sums()


def test_an_empty_entry_of_a_csvs_eligible_arms_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text("task,arm,reward,may\ns,a,1,a|b\ns,a,1,a||b\n")
    columns = Columns(task="task", arm="arm", reward="reward", eligible="may")
    with pytest.raises(ValueError, match=r"be arms separated by '\|', got 'a\|\|b' .* at row 1$"):
        Log.read(tmp_path / "log.csv", columns).sums()


@pytest.mark.parametrize(
    ("mark", "decimal", "text", "value"),
    [
        (",", ".", "1,234.5", "1234.5"), (",", ".", "-12,345,678", "-12345678"),
        (".", ",", "1.234,5", "1234,5"), (" ", ",", "1\u202f234,5", "1234,5"),
        ("'", ".", "1'234.", "1234."), (",", ".", "1,23", "1,23"), (",", ".", "0,123", "0,123"),
        (",", ".", "1,234 stores", "1,234 stores"), (",", ".", "12.5", "12.5"),
    ],
)  # fmt: skip
def test_marks_between_thousands_are_removed_from_numbers_alone(mark, decimal, text, value):
    frame = pl.DataFrame({"y": [text, None]})
    reading = Reading(thousands=mark, decimal=decimal)
    assert tidied(frame, reading, is_text=True)["y"].to_list() == [value, None]
    assert tidied(frame, reading, is_text=False)["y"].to_list() == [text, None]
