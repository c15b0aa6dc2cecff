"""The sums of a whole log, with the names of what was summed."""

import numpy as np
import pytest
from support.learn_logs import CLOSE, FORMS, drawn, sums_of


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_sums_have_the_names_of_their_tasks_arms_and_populations(armed, populations):
    rows = drawn(5, armed=armed, populations=populations)
    past = rows.log(batch_rows=9).sums()
    np.testing.assert_allclose(past.sums.xy, sums_of(rows).xy, **CLOSE)
    assert (past.tasks, past.num_rows) == (tuple(rows.names), rows.task.size)
    assert past.arms == (("a0", "a1", "a2") if armed else None)
    np.testing.assert_array_equal(past.population, rows.population)
    expected = ("all",) if populations == 1 else ("c0", "c1", "c2")
    assert past.populations == expected
