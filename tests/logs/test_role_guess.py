"""Which column may hold what."""

import numpy as np
import polars as pl
import pytest

from hierbandits.logs.column_profile import ColumnProfiler
from hierbandits.logs.role_guess import guessed_roles

RNG = np.random.default_rng(0)
SIZE = 400
STORES = [f"s{i}" for i in RNG.integers(0, 30, SIZE)]
PROMOS = RNG.choice(["a", "b", "c"], SIZE)
MONEY = RNG.normal(20, 5, SIZE)


def _guessed(frame):
    profiles = []
    for series in pl.DataFrame(frame):
        profiler = ColumnProfiler(series.name, ".")
        profiler.add(series, np.arange(series.len()))
        profiles.append(profiler.profile())
    return guessed_roles(profiles)


@pytest.mark.parametrize(
    ("frame", "roles"),
    [
        (
            {"customer_id": STORES, "treatment": PROMOS, "age": RNG.integers(18, 90, SIZE),
             "sales": MONEY},
            {"task": "customer_id", "arm": "treatment", "reward": "sales"},
        ),
        (
            {"ts": np.arange(SIZE), "user": STORES, "chosenArm": PROMOS, "clicked": MONEY > 20,
             "pscore": RNG.uniform(0.1, 0.9, SIZE), "uuid": [f"u{i}" for i in range(SIZE)]},
            {"time": "ts", "task": "user", "arm": "chosenArm", "reward": "clicked",
             "propensity": "pscore", "decision": "uuid"},
        ),
        ({"one": STORES, "two": PROMOS, "three": MONEY},
         {"task": "one", "arm": "two", "reward": "three"}),
        ({"text": [f"t{i}" for i in range(SIZE)]}, {"decision": "text"}),
        ({"nothing": [None] * SIZE}, {}),
    ],
)  # fmt: skip
def test_roles_are_proposed_from_names_and_cells(frame, roles):
    assert _guessed(frame) == roles
