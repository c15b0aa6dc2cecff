"""The findings in plain words."""

from dataclasses import replace

import numpy as np
import pytest
from hierbandits.learning.savings import Saving
from support.learn_logs import drawn, learned

import hierbandits as hb
from hierbandits.learning.verdict import (
    _on_hierarchy,
    _saved,
    on_calibration,
    on_similarity,
    strength,
)


@pytest.mark.parametrize(
    ("odds", "word"), [(2.9, "hardly"), (3.1, "somewhat"), (21, "strongly"), (151, "very strongly")]
)
def test_the_words_for_evidence(odds, word):
    assert strength(np.log(odds)) == word


def test_evidence_against_a_hierarchy_is_called_that():
    words = _on_hierarchy(-np.log(3.0), "independent tasks")
    assert words == "is against a hierarchy in place of independent tasks (odds 3 to 1)"
    words = _on_hierarchy(np.log(30.0), "one pooled model")
    assert words == "strongly (odds 30 to 1) for a hierarchy over one pooled model"


def test_pooling_is_said_to_win_where_it_does():
    rows = drawn(20, armed=True, tasks=100, events=100, d=5, task_std=0.1, hyper_std=0.3, noise=1.5)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, structure="diagonal", held_out=0, runs=200
    )
    pooled = next(s for s in report.savings.savings if s.over == "PooledTS")
    assert pooled.difference < -2 * pooled.difference_error
    assert "more regret than PooledTS. Pooling wins there" in report.verdict[-1]
    assert "less regret than TS" in report.verdict[-1]
    assert report.similarity.maybe_zero.any()
    assert "the log does not tell them from zero" in report.verdict[-1]


def test_what_is_not_told_apart_is_not_called_better():
    _, _, report = learned(True)
    calibration = replace(
        report.calibration, advantage={"pooled": (0.3, 0.1), "independent": (-0.019, 0.01)}
    )
    words = on_calibration(calibration)[-1]
    assert "better than pooled ones by 0.3 ± 0.1" in words
    assert "about as good as independent ones (-0.019 ± 0.01)" in words
    unsure = replace(report.similarity, maybe_zero=np.ones_like(report.similarity.maybe_zero))
    first, second = on_similarity(unsure)[:2]
    assert first.startswith("By the widths that fit best, ")
    assert second == "But the log tells none of these widths from zero: tasks may not differ."


def test_large_percentages_are_spelt_out():
    values = {"difference": -1.0, "difference_error": 1.0, "percent": -152.3}
    saving = Saving(over="PooledTS", percent_error=141.0, **values)
    assert _saved(saving) == "about the regret of PooledTS (+152 ± 141 %)"
