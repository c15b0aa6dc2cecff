"""How much each task leans on the others."""

import numpy as np
import pytest
from support.learn_logs import drawn, learned, other_prior, posteriors, sums_of

from hierbandits.learning.shrinkage import Shrinkage


def test_a_task_without_rewards_leans_on_others_alone():
    rows = drawn(12, armed=False)
    sums = sums_of(rows)
    for part in (sums.xx, sums.xy, sums.yy, sums.n):
        part[4] = 0
    shrinkage = Shrinkage.of(posteriors(other_prior(rows), sums, rows.population), sums.n, (), ())
    assert shrinkage.weight[4] == pytest.approx(1.0, abs=1e-12)
    assert (np.delete(shrinkage.weight, 4) < 0.999).all()


def test_the_frame_has_a_row_for_each_task_and_two_columns_for_each_coordinate():
    rows, _, report = learned(False)
    frame = report.shrinkage.frame()
    assert frame.columns[:5] == ["task", "rows", "weight_of_others", "mean x0", "std x0"]
    assert frame["task"].to_list() == rows.names
    assert frame["rows"].to_list() == np.bincount(rows.task).tolist()
    np.testing.assert_array_equal(frame["std x2"].to_numpy(), report.shrinkage.std[:, 2])
