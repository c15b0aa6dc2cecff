"""The findings in plain words."""

from dataclasses import replace

import numpy as np
import pytest
from support.learn_logs import learned

from hierbandits.learning.verdict import (
    _on_hierarchy,
    on_calibration,
    on_outliers,
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


def test_long_names_and_escapes_are_shown_as_names_are():
    _, _, report = learned(True)
    outliers = report.outliers
    odd = replace(
        outliers,
        tasks=("\x1b[31m" + "x" * 70_000,) * len(outliers.tasks),
        flagged=np.ones(len(outliers.tasks), bool),
    )
    words = " ".join(on_outliers(odd))
    assert words.isprintable()
    assert len(words) < 700
