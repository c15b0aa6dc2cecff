"""Steps of learning that differ for clicks and counts."""

import numpy as np
from support.click_logs import learned_clicks


def test_what_a_task_needs_follows_from_what_a_click_tells():
    log, report = learned_clicks()
    sums, similarity = log.sums(), report.similarity
    order = [int(arm[1:]) for arm in report.arms]
    rate = (sums.xy.sum(0) / sums.xx.sum(0))[order]
    tells = rate * (1 - rate)  # of log odds, at the mean rate
    expected = 1 / (tells * similarity.task_std**2)
    np.testing.assert_allclose(similarity.rewards_to_equal, expected, rtol=0.35)


def test_the_log_chooses_a_structure():
    _, report = learned_clicks(structure="auto")
    assert set(report.structure.log_marginal) == {"scalar", "diagonal", "common", "full"}
