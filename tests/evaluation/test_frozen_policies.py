"""Frozen policies that are functions or one arm: their probabilities are checked."""

import numpy as np
import pytest

from hierbandits import evaluate

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
