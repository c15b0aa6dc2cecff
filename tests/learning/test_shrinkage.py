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


def test_shrinkage_is_shown_in_a_line():
    rows, _, report = learned(False)
    weights = report.shrinkage.weight
    shown = repr(report.shrinkage)
    assert shown.startswith(f"<Shrinkage of {weights.size} tasks: others weigh {weights.min():.2g}")
    assert len(shown) < 120
    assert str(rows.names[0]) in report.shrinkage._repr_html_()
    nobody = Shrinkage(
        tasks=(), coordinates=(), population=np.empty(0, int), rows=np.empty(0),
        weight=np.empty(0), mean=np.empty((0, 0)), std=np.empty((0, 0)),
    )  # fmt: skip
    assert repr(nobody) == "<Shrinkage of no task>"
