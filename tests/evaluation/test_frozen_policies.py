"""Frozen policies that are functions or one arm: their probabilities are checked."""

import numpy as np
import polars as pl
import pytest
from support.logged import World

from hierbandits import Belief, evaluate

ANSWERS = {
    "negative": ([1.2, -0.2, 0.0], "not negative and sum to one"),
    "sum": ([0.5, 0.2, 0.2], "which sum to 0.9"),
    "nan": ([np.nan, 0.5, 0.5], "not negative and sum to one"),
    "short": ([0.5, 0.5], "one probability for each of 3 eligible arms"),
    "text": ("a0", "must give probabilities, got 'a0'"),
    "nothing": (None, "must give one probability"),
    "unknown": ({"a0": 0.5, "b": 0.5}, "must play eligible arms alone, got 'b'"),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_probabilities_of_a_function_are_checked(case, log):
    answer, message = ANSWERS[case]
    with pytest.raises(ValueError, match=f"policy 'mine' in task 't.'.*{message}"):
        evaluate(log, {"mine": lambda task, arms: answer}, ["ips"])


def test_arms_that_are_not_eligible_must_not_be_played(world, frame):
    log = world.log(frame, eligible="eligible")
    with pytest.raises(ValueError, match="must play eligible arms alone, got 'a0'"):
        evaluate(log, {"mine": lambda task, arms: {"a0": 1.0}}, ["ips"])
    with pytest.raises(ValueError, match="arm 'a0' must be eligible in every row"):
        evaluate(log, "arm:a0", ["ips"])
    evaluation = evaluate(log, {"mine": lambda task, arms: {arms[0]: 1.0, "zz": 0.0}}, ["ips"])
    assert evaluation["mine", "ips"].rows == 120


def test_the_best_arm_is_chosen_by_other_rows_and_plays_the_next_where_it_is_barred(world, frame):
    """The model's mean of each arm, were it played in all tasks of the training rows."""
    policies = {"best arm": "best arm", "own": lambda task, arms: {arms[-1]: 1.0}}
    log = world.log(frame, eligible="eligible")
    evaluation = evaluate(log, policies, ["ips"], prior=world.prior(), split="time")
    early, late = frame[:60], frame[60:]
    belief = Belief(world.prior(), 6)
    tasks = [int(task[1:]) for task in early["task"]]
    belief.observe(tasks, [int(arm[1:]) for arm in early["arm"]], early["reward"].to_numpy())
    means = np.array([belief.task(task).mean for task in range(6)])
    order = np.argsort(-(np.bincount(tasks, minlength=6) @ means))
    assert evaluation.best_arms == (f"a{order[0]}",)
    plays = [next(f"a{k}" for k in order if f"a{k}" in arms) for arms in late["eligible"]]
    agreed = (late["arm"] == pl.Series(plays)).to_numpy()
    assert any(arm != f"a{order[0]}" for arm in plays)
    expected = (agreed * late["reward"].to_numpy() / late["p"].to_numpy()).mean()
    assert evaluation["best arm", "ips"].value == pytest.approx(expected)


def test_the_best_arm_is_not_flattered_by_the_rows_that_judge_it():
    """All arms are equal: an arm chosen by the rows that judge it would seem to earn 0.1."""
    world, values = World(np.zeros((6, 3)), np.full((6, 3), 1 / 3)), []
    for seed in range(40):
        log = world.log(world.rows(np.random.default_rng([7, seed]), 150))
        evaluation = evaluate(log, "best arm", ["snips"], prior=world.prior(), folds=2)
        values.append(evaluation["best arm", "snips"].value)
    error = np.std(values, ddof=1) / np.sqrt(40)
    assert abs(np.mean(values)) < 4 * error
    assert error < 0.03
