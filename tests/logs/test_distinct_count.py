"""Different cells: counted exactly while they are few, and nearly beyond."""

import numpy as np
import polars as pl
import pytest

from hierbandits.logs.distinct_count import SIZE, DistinctCount


@pytest.mark.parametrize("size", [0, 1, 100, SIZE - 1])
def test_few_are_counted_exactly(size):
    counter = DistinctCount()
    hashes = pl.Series(range(size), dtype=pl.Int64).hash().to_numpy()
    for part in (hashes, hashes[::-1], hashes[:0]):
        counter.add(part)
    assert (counter.count, counter.is_exact) == (size, True)


def test_many_are_counted_within_a_few_percent_whatever_the_batches():
    hashes = pl.Series(np.arange(300_000)).hash().to_numpy()
    whole, parts = DistinctCount(), DistinctCount()
    whole.add(hashes)
    for start in range(0, 300_000, 7_000):
        parts.add(hashes[max(0, start - 3_000) : start + 7_000])
    assert whole.count == parts.count
    assert not whole.is_exact
    assert abs(whole.count / 300_000 - 1) < 6 / SIZE**0.5
