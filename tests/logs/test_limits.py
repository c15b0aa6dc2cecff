"""Limits: what is too large is refused at once, with its size."""

import tracemalloc

import numpy as np
import polars as pl
import pytest

from hierbandits import Columns, Limits, Log, evaluate, hieropo, learn_prior

COLUMNS = {"task": "task", "arm": "arm", "reward": "reward"}


def _log(size, rows=None):
    """A log of many tasks and arms, of which few meet."""
    place = np.arange(rows or size)
    return pl.DataFrame({"task": place % size, "arm": (7 * place) % size, "reward": np.sin(place)})


@pytest.mark.parametrize(
    "name", ["tasks", "arms", "pending", "name_length", "cells", "fit", "fit_arms"]
)
@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True, None])
def test_a_limit_is_a_positive_number(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
        Limits(**{name: value})


def test_what_is_allowed_unless_other_limits_are_given():
    limits = Limits()
    assert limits.to_dict() == {
        "tasks": 10_000_000, "arms": 100_000, "pending": 1_000_000, "name_length": 1000,
        "cells": 2**27, "fit": 10**9, "fit_arms": 1000,
    }  # fmt: skip
    assert Limits(**limits.to_dict()) == limits
    assert type(Limits(tasks=np.int64(3)).tasks) is int


def test_tables_are_measured_by_tasks_arms_and_cells():
    limits = Limits(tasks=10, arms=5, cells=30)
    limits.check_table(10, 3, 3, armed=True)
    limits.check_table(1, 30, 30, armed=False)  # arms alone are few
    with pytest.raises(ValueError, match=r"tasks must be at most 10 \(limits.tasks\), got 11"):
        limits.check_table(11, 1, 1, armed=True)
    with pytest.raises(ValueError, match=r"arms must be at most 5 \(limits.arms\), got 6"):
        limits.check_table(1, 6, 6, armed=True)
    message = r"at most 30 cells \(limits.cells\), got 40 for 10 tasks and 2 features: 0.0 GiB"
    with pytest.raises(ValueError, match=message):
        limits.check_table(10, 2, 4, armed=False)


@pytest.mark.parametrize("read", ["sums", "learn_prior", "evaluate", "hieropo"])
def test_many_tasks_and_arms_that_hardly_meet_are_refused_before_there_is_room_for_them(read):
    frame = _log(100_000)
    calls = {
        "sums": lambda: Log.read(frame, Columns(**COLUMNS)).sums(),
        "learn_prior": lambda: learn_prior(frame, **COLUMNS),
        "evaluate": lambda: evaluate(frame, ["uniform"], **COLUMNS, uniform=True),
        "hieropo": lambda: hieropo(frame, **COLUMNS),
    }
    sizes = "100,000 tasks and 100,000 arms"
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=f"(limits.cells|limits.fit).*{sizes}"):
            calls[read]()
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()


def test_widths_that_would_take_hours_are_refused_at_once():
    frame = _log(5000, 20_000)
    message = r"at most 1,000,000,000 tasks x arms x arms \(limits.fit\), got 125,000,000,000 of 5"
    with pytest.raises(ValueError, match=message):
        learn_prior(frame, **COLUMNS)
    with pytest.raises(ValueError, match="got 1,000,000 of 100 tasks and 100 arms"):
        learn_prior(_log(100, 500), **COLUMNS, limits=Limits(fit=999_999))
    with pytest.raises(ValueError, match="got 1,000,000 of 100 tasks and 100 arms"):
        evaluate(_log(100, 500), ["HierOPO"], **COLUMNS, uniform=True, limits=Limits(fit=999_999))
    with pytest.raises(ValueError, match="got 1,000,000 of 100 tasks and 100 arms"):
        hieropo(_log(100, 500), **COLUMNS, limits=Limits(fit=999_999))
    sums = Log.read(frame, Columns(**COLUMNS)).sums().sums  # which do not take long
    assert sums.xx.shape == (5000, 5000)


def test_a_column_of_ids_is_no_column_of_arms():
    frame = _log(1002).with_columns(task=pl.lit("t") + (pl.col("task") % 2).cast(pl.String))
    message = r"at most 1,000 arms whose widths are fitted \(limits.fit_arms, .* got 1,002"
    for call in (learn_prior, hieropo):
        with pytest.raises(ValueError, match=message):
            call(frame, **COLUMNS)
    Limits(fit_arms=1001).check_fit(2, 1001, armed=True)
    Limits().check_fit(2, 1000, armed=True)
    Limits(fit=10**12).check_fit(2, 1001, armed=False)  # features are another matter


def test_names_are_measured_in_characters_and_digits():
    limits = Limits(name_length=5)
    limits.check_names("task", ["abcde", "ü" * 5, 12345, -12345, ""])
    for name in ("abcdef", 10**6, -(10**6), 10**70_000):
        with pytest.raises(ValueError, match=r"task must have at most 5 characters \(limits.name"):
            limits.check_names("task", ["a", name])
