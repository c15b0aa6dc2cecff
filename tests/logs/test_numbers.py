"""Numbers in the cells of a log."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import as_source

from hierbandits.logs import Columns, Log
from hierbandits.logs.numbers import as_numbers, as_probabilities, is_number, parsed_numbers


def test_text_is_no_reward(tmp_path):
    columns = Columns(task="task", arm="arm", reward="reward")
    frame = pl.DataFrame({"task": [1, 2], "arm": [1, 1], "reward": ["1.5", "much"]})
    with pytest.raises(ValueError, match=r"reward must be a number, got '1.5' .* at row 0$"):
        Log.read(frame, columns).sums()
    with pytest.raises(ValueError, match=r"reward must be a number, got 'much' .* at row 1$"):
        Log.read(as_source("csv", frame, tmp_path), columns).sums()
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"task": [1, 2], "arm": [1, 1], "reward": [1.5, "much"]})
    with pytest.raises(ValueError, match=r"of one kind, got 'much' .*'reward' at row 1$"):
        Log.read(mixed, columns).sums()


def test_text_is_read_with_a_decimal_point_alone():
    texts = pl.Series("y", ["0.5", "-3", "1e2"])
    np.testing.assert_array_equal(as_numbers("reward", texts, range(3), "."), [0.5, -3, 100])
    for text, right in {"0.5": True, "1e2": True, "0,5": False, "1,000": False, "x": False}.items():
        assert is_number(text) == right
    commas = pl.Series("y", ["0.5", "0,5"])
    hint = r"with the decimal mark '.' \(or read with decimal=','\)"
    with pytest.raises(ValueError, match=f"be a number {hint}, got '0,5' in column 'y' at row 8"):
        as_numbers("reward", commas, range(7, 9), ".")


def test_a_decimal_comma_is_read_where_it_is_asked_for():
    texts = pl.Series("y", ["0,5", "-3", "1,5e2", None])
    assert parsed_numbers(texts, ",").to_list() == [0.5, -3.0, 150.0, None]
    mixed = pl.Series("y", ["0,5", "1.234,5"])  # a thousand, or one and a bit: nobody guesses
    with pytest.raises(ValueError, match=r"reward must be a number, got '1.234,5' .* at row 1$"):
        as_numbers("reward", mixed, range(2), ",")
    with pytest.raises(ValueError, match=r"decimal mark ',' .* got '0.5' in column 'y' at row 0$"):
        as_numbers("reward", pl.Series("y", ["0.5"]), range(1), ",")


@pytest.mark.parametrize(
    ("value", "right"), [(1.0, True), (1e-9, True), (0.0, False), (1.01, False)]
)
def test_probabilities_are_above_zero_and_at_most_one(value, right):
    cells = pl.Series("p", [0.5, value])
    if right:
        assert as_probabilities(cells, range(2), decimal=None).tolist() == [0.5, value]
        return
    with pytest.raises(ValueError, match=r"propensity must be in \(0, 1\], got .* at row 1"):
        as_probabilities(cells, range(2), decimal=None)


@pytest.mark.parametrize("text", ["true", "FALSE", " False"])
def test_true_and_false_are_told_what_to_be(text):
    with pytest.raises(ValueError, match=f"reward must be a number, 1 for true and 0 .* '{text}'"):
        as_numbers("reward", pl.Series("y", ["1", text]), range(2), ".")
