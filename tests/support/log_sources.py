"""One log in every kind of source that can be read."""

import numpy as np
import polars as pl
import pytest

ROWS, TASKS, BATCH = 500, 40, 64
ARMS = ("c", "a", "b")
FEATURES = ["x0", "x1", "x2"]
KINDS = ["polars", "lazy", "pandas", "arrow", "parquet", "csv"]


def full_frame(rng):
    """Rows with everything, and more tasks in the second half than in the first."""
    task = np.concatenate([rng.integers(0, 9, ROWS // 2), rng.integers(0, TASKS, ROWS // 2)])
    x = rng.normal(size=(ROWS, 3))
    return pl.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "arm": np.array(ARMS)[rng.integers(0, 3, ROWS)],
            "x": x,
            **{name: x[:, i] for i, name in enumerate(FEATURES)},
            "reward": rng.normal(size=ROWS),
            "country": np.array(["no", "fi"])[task % 2],
            "id": [f"d{i}" for i in range(ROWS)],
            "p": rng.uniform(0.1, 1.0, ROWS),
            "when": np.arange(ROWS) * 1.5,
        }
    )


def as_source(kind, frame, folder):
    """A frame as another kind of source; a CSV has no lists."""
    if kind == "polars":
        return frame
    if kind == "lazy":
        return frame.lazy()
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({c.name: c.to_list() for c in frame})
    if kind == "arrow":
        pytest.importorskip("pyarrow")
        return frame.to_arrow()
    path = folder / f"log.{kind}"
    if kind == "csv":
        lists = [c.name for c in frame if isinstance(c.dtype, pl.List | pl.Array)]
        frame.drop(lists).write_csv(path)
    else:
        frame.write_parquet(path)
    return path if kind == "csv" else str(path)


def assert_same_sums(sums, other):
    """To the last digit."""
    for part in ("xx", "xy", "yy", "n"):
        np.testing.assert_array_equal(getattr(sums, part), getattr(other, part))
