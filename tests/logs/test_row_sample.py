"""A sample of rows."""

import numpy as np

from hierbandits.keyed_random import Stream
from hierbandits.logs import RowSample


def test_a_sample_of_rows_is_uniform_and_the_same_for_any_batches():
    rows = np.arange(10_000).reshape(-1, 2)  # 5,000 rows
    found = []
    for size in (5000, 700, 1):
        sample = RowSample(Stream(3, "some"), 500)
        for start in range(0, 5000 if size > 1 else 600, size):
            sample.add(start, rows[start : start + size])
        found.append(sample.values)
    np.testing.assert_array_equal(found[0], found[1])
    assert len({tuple(row) for row in found[0].tolist()}) == 500
    assert len(found[2]) == 500
    assert abs(found[0][:, 0].mean() / 2 - 2500) < 5 * 5000 / np.sqrt(12 * 500)
