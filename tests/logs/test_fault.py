"""Bad cells of one kind, gathered through batches."""

import numpy as np
import polars as pl

from hierbandits.logs.fault import MOST_WORDS, Faults


def test_cells_of_one_kind_are_gathered():
    faults = Faults()
    cells = pl.Series("y", [f"w{i % 3}" for i in range(10)])
    for start in (0, 100):
        bad = np.arange(10) % 2 == 1
        faults.add("reward", "number", "be a number", cells, np.arange(start, start + 10), bad)
        faults.add("reward", "finite", "be finite", cells, np.arange(10), np.zeros(10, bool))
    (fault,) = faults.all
    assert (fault.role, fault.column, fault.count) == ("reward", "y", 10)
    assert fault.rows == [1, 3, 5, 7, 9]
    assert fault.examples == "'w1', 'w0', 'w2'"
    assert fault.words == {"w0": 4, "w1": 4, "w2": 2}


def test_few_words_are_kept():
    faults = Faults()
    cells = pl.Series("y", [str(i) for i in range(10 * MOST_WORDS)])
    rows = np.arange(cells.len())
    faults.add("reward", "number", "be a number", cells, rows, rows >= 0)
    assert len(faults.all[0].words) == MOST_WORDS
    assert faults.all[0].count == 10 * MOST_WORDS
