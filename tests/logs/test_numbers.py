"""Numbers in the cells of a log."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import as_source

from hierbandits.logs import Columns, Log
from hierbandits.logs.numbers import as_numbers, as_probabilities, is_number


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
    np.testing.assert_array_equal(as_numbers("reward", texts, range(3), text=True), [0.5, -3, 100])
    for text, right in {"0.5": True, "1e2": True, "0,5": False, "1,000": False, "x": False}.items():
        assert is_number(text) == right
    commas = pl.Series("y", ["0.5", "0,5"])
    with pytest.raises(
        ValueError, match="reward must be a number, got '0,5' in column 'y' at row 8"
    ):
        as_numbers("reward", commas, range(7, 9), text=True)


@pytest.mark.parametrize(
    ("value", "right"), [(1.0, True), (1e-9, True), (0.0, False), (1.01, False)]
)
def test_probabilities_are_above_zero_and_at_most_one(value, right):
    cells = pl.Series("p", [0.5, value])
    if right:
        assert as_probabilities(cells, range(2), text=False).tolist() == [0.5, value]
        return
    with pytest.raises(ValueError, match=r"propensity must be in \(0, 1\], got .* at row 1"):
        as_probabilities(cells, range(2), text=False)
