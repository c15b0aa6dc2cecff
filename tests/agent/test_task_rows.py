"""The rows of a file of tasks, with names as the agent spells them."""

import numpy as np
import polars as pl
import pytest

from hierbandits import Agent, GaussianHierarchy
from hierbandits.agent.task_rows import TaskRows


def _state(tasks, arms=("x", "y")):
    agent = Agent(arms=list(arms), seed=0)
    agent.decide_many(tasks)
    return agent._state


def _rows(frame, state, columns=("task",), eligible=None, is_text=False):
    return TaskRows.of(frame, state, columns, eligible, is_text=is_text)


@pytest.mark.parametrize(
    ("known", "cells", "expected"),
    [
        (["17", "a"], [17, 18], ["17", "18"]),
        ([17, 18], ["17", "-2"], [17, -2]),
        ([17, 18], ["017", "a", "٣", "9" * 30], ["017", "a", "٣", "9" * 30]),
        ([17, 18], [17, 19], [17, 19]),
        ([17, "a"], ["17", "b"], ["17", "b"]),
        ([], [3, 4], [3, 4]),
    ],
)
def test_a_task_is_spelt_as_the_agent_spells_tasks(known, cells, expected):
    state = _state(known) if known else Agent(arms=["x", "y"])._state
    assert _rows(pl.DataFrame({"task": cells}), state).tasks == expected


def test_eligible_arms_are_lists_of_names_or_text():
    lists = pl.DataFrame({"task": ["a", "b"], "e": [["x"], ["y", "x"]]})
    assert _rows(lists, _state(["a"]), eligible="e").arms == [["x"], ["y", "x"]]
    text = pl.DataFrame({"task": ["a", "b"], "e": ["1", "2|1"]})
    state = _state(["a"], arms=[1, 2])
    assert _rows(text, state, eligible="e", is_text=True).arms == [[1], [2, 1]]


def test_arms_may_have_features():
    agent = Agent(num_features=2, seed=0)
    arms = [[[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]]
    frame = pl.DataFrame({"task": ["a", "b"], "e": arms})
    rows = _rows(frame, agent._state, eligible="e")
    made = agent.decide_many(rows.tasks, rows.arms)
    assert made[0].features == (1.0, 0.0)


def test_a_path_has_a_column_for_each_name():
    prior = GaussianHierarchy.deep(
        hyper_mean=np.zeros(2), covs=[np.eye(2), np.eye(2), np.eye(2)], noise_std=1.0
    )
    agent = Agent(prior, arms=np.eye(2), seed=0)
    frame = pl.DataFrame({"region": ["n", "s"], "store": [1, 2]})
    rows = _rows(frame, agent._state, ["region", "store"])
    assert rows.tasks == [("n", 1), ("s", 2)]
    with pytest.raises(ValueError, match="task must name 2 columns"):
        _rows(frame, agent._state, ["store"])


def test_rows_are_described_in_full():
    frame = pl.DataFrame({"task": ["a", "b"], "e": [["x"], ["y"]]})
    state = _state(["a"])
    assert list(_rows(frame, state).described()) == [("a", None), ("b", None)]
    assert list(_rows(frame, state, eligible="e").described()) == [("a", ["x"]), ("b", ["y"])]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.DataFrame({"task": []}, schema={"task": pl.String}), "at least one row"),
        (pl.DataFrame({"task": ["a", None]}), "task must not be missing, got None .* row 1"),
        (pl.DataFrame({"task": [1.5]}), "task must be a string or an integer"),
        (pl.DataFrame({"store": ["a"]}), "task must be one of the columns"),
    ],
)
def test_rows_without_a_task_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        _rows(frame, _state(["a"]))
