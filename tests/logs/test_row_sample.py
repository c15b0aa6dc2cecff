"""A sample of rows."""

import numpy as np

from hierbandits.keyed_random import Stream
from hierbandits.logs import RowSample


def test_a_sample_of_rows_is_uniform_and_the_same_for_any_batches():
    rows = np.arange(10_000).reshape(-1, 2)  # 5,000 rows
    samples = []
    for size in (5000, 700, 1):
        sample = RowSample(Stream(3, "some"), 500)
        for start in range(0, 5000 if size > 1 else 600, size):
            sample.add(start, rows[start : start + size])
        samples.append(sample.values)
    np.testing.assert_array_equal(samples[0], samples[1])
    assert len({tuple(row) for row in samples[0].tolist()}) == 500
    assert len(samples[2]) == 500
    assert abs(samples[0][:, 0].mean() / 2 - 2500) < 5 * 5000 / np.sqrt(12 * 500)
