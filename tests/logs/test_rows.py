"""Some rows of a log with arms."""

import numpy as np
import pytest

from hierbandits.logs import Rows


def rows(*, logged_times=True):
    return Rows(
        numbers=np.array([4, 5, 6]),
        tasks=np.array([0, 1, 0]),
        arms=np.array([2, 0, 1]),
        rewards=np.array([0.5, 1.5, 2.5]),
        propensities=np.array([0.2, 0.3, 0.4]),
        eligible=None,
        times=np.array(["a", "b", "c"]) if logged_times else None,
    )


@pytest.mark.parametrize(
    "chosen", [np.array([True, False, True]), np.array([0, 2]), slice(0, None, 2)]
)
def test_some_rows_are_chosen_in_every_column(chosen):
    some = rows().only(chosen)
    assert (some.size, some.numbers.tolist(), some.arms.tolist()) == (2, [4, 6], [2, 1])
    assert (some.propensities.tolist(), some.times.tolist()) == ([0.2, 0.4], ["a", "c"])
    assert some.eligible is None


def test_rows_follow_each_other_in_every_column():
    both = rows().then(rows().only(np.array([1])))
    assert (both.size, both.tasks.tolist()) == (4, [0, 1, 0, 1])
    assert both.rewards.tolist() == [0.5, 1.5, 2.5, 1.5]
    assert rows(logged_times=False).then(rows(logged_times=False)).times is None
