"""What a log holds, counted batch by batch."""

import numpy as np
import polars as pl
import pytest
from support.log_sources import ARMS, full_frame

import hierbandits as hb
from hierbandits.logs.log_summary import FirstRows
from hierbandits.logs.survey import Survey
from hierbandits.reporting.report import Report


@pytest.mark.parametrize("batch_rows", [33, 1000])
def test_counts_are_those_of_the_frame(batch_rows):
    frame = full_frame(np.random.default_rng(3))
    columns = hb.Columns(task="task", arm="arm", reward="reward")
    log = hb.Log.read(frame, columns, arms=[*ARMS, "never"], batch_rows=batch_rows)
    summary = Survey.of(log).summary
    by_arm = frame.group_by("arm").agg(pl.len(), pl.mean("reward"))
    expected = {arm: (rows, mean) for arm, rows, mean in by_arm.iter_rows()}
    for place, arm in enumerate(ARMS):
        rows, mean = summary.arm_rows[place], summary.arm_means[place]
        assert (rows, mean) == (expected[arm][0], pytest.approx(expected[arm][1]))
    assert summary.arm_rows[3] == 0
    tasks = dict(frame["task"].value_counts().iter_rows())
    assert dict(zip(summary.tasks, summary.task_rows.tolist(), strict=True)) == tasks
    rewards = frame["reward"].to_numpy()
    assert (summary.reward_least, summary.reward_largest) == (rewards.min(), rewards.max())
    quartiles = np.quantile(rewards, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(summary.reward_quartiles, quartiles)
    assert summary.reward_mean == pytest.approx(rewards.mean())
    assert summary.problems == ()
    data = summary.to_dict()
    assert (data["rows"], data["tasks"], data["arms"][3]) == (
        500, 40, {"arm": "never", "rows": 0, "mean": None}
    )  # fmt: skip
    assert data["rows_of_a_task"]["most"] == summary.task_rows.max()


def test_the_page_has_the_facts_and_what_looks_odd():
    frame = pl.DataFrame(
        {"s": ["a", "b", "a", None], "k": ["x", "X", "x", "x"], "y": [1.0, 2.0, 4.0, 9.0]}
    )
    log = hb.Log.read(
        frame, hb.Columns(task="s", arm="k", reward="y"), reading=hb.Reading(drop_missing=True)
    )
    survey = Survey.of(log)
    assert survey.read_as() == {
        "reading": {"drop_missing": True}, "left_out": {"repeated": 0, "missing": {"s": 1}}
    }  # fmt: skip
    (_, _, facts), (_, _, arms) = survey.summary.tables()
    assert dict(facts) == {
        "rows": "3", "rows left out": "1: 1 without 's'", "tasks": "2",
        "rows of a task": "1 to 2, half of them 1 to 2, median 2", "arms": "2",
        "rewards": "1 to 4", "mean reward": "2.333, standard deviation 1.247",
        "quartiles of rewards": "1.5, 2, 3",
    }  # fmt: skip
    assert arms == [["x", "2", "66.7 %", "2.5"], ["X", "1", "33.3 %", "2"]]
    page = Report("learn", "title", {})
    survey.summary.add_to(page)
    assert "Look at this: arm, column 'k': arms that differ in case" in page.html().replace(
        "&#x27;", "'"
    )


def test_features_and_populations_are_counted():
    frame = full_frame(np.random.default_rng(4))
    columns = hb.Columns(task="task", features="x", reward="reward", population="country")
    summary = Survey.of(hb.Log.read(frame, columns)).summary
    assert (summary.arms, summary.num_features) == (None, 3)
    ((_, _, facts),) = summary.tables()
    assert dict(facts)["features"] == "3"
    assert dict(facts)["populations"] == "2"


def test_tasks_of_as_many_rows_have_one_number():
    frame = pl.DataFrame({"s": ["a", "b", "a", "b"], "k": ["x", "x", "y", "x"], "y": range(4)})
    log = hb.Log.read(frame, hb.Columns(task="s", arm="k", reward="y"))
    facts = Survey.of(log).summary.tables()[0][2]
    assert dict(facts)["rows of a task"] == "2"


def test_first_rows_are_the_first():
    first = FirstRows()
    first.add(np.array([0, 2, 0]), np.array([5, 6, 7]))
    first.add(np.array([2, 1, 4]), np.array([8, 9, 11]))
    assert first.rows.tolist() == [5, 9, 6, -1, 11]
