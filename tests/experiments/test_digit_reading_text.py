"""What the digits' report tells of its reading."""

import re
from pathlib import Path

import pytest

from hierbandits.environments.digit_reading import DigitReading
from hierbandits.experiments.digit_reading_text import (
    RECORD,
    RECORD_COLUMNS,
    describe_reading,
    reading_settings,
)
from hierbandits.reporting.report import Report

PAPER = Path(__file__).parents[2] / "docs" / "paper.md"


def _told(folder, **reading):
    report = Report("digits", "title", {})
    describe_reading(report, DigitReading(**reading), 321)
    page = report.write(folder).read_text()
    return re.sub(r"\s+", " ", page)


def test_the_page_tells_estimates_and_how_they_were_chosen(tmp_path):
    page = _told(tmp_path)
    for words in (
        "Half of the weight is on all pictures",
        "pictures that the fit itself would choose among 30",
        "computed 8 times",
        "The ridge of the fit is sigma^2 = 0.25. With it, the fit is the posterior mean under the "
        "hyper-prior N(0, I) and noise sigma = 0.5.",
        "whatever the reading and the digit. These ranges are over digits, from the same runs.",
        "the mean and the covariance of theta_s over 500 sub-samples of the training half, of 321",
        "1e-06 is added to the diagonal of Sigma_0",
        "chose choice-weighted after we had seen regrets on the test half",
        "are of the task&#x27;s own sub-sample",
        "--estimator choice-weighted",
        "--arms-from subsample",
        "--estimator positive-mean and --arms-from test-half",
    ):
        assert words in page, words


def test_the_page_tells_of_the_reading_in_force_alone(tmp_path):
    literal = _told(tmp_path / "literal", estimator="positive-mean", arms_from="test-half")
    assert "theta_s is the mean of the positive pictures" in literal
    assert "are of the whole test half" in literal
    assert "The ridge of the fit" not in literal
    assert "computed 8 times" not in literal
    plain = _told(tmp_path / "plain", estimator="least-squares")
    assert "All pictures of the sub-sample have the same weight" in plain
    assert "The ridge of the fit is sigma^2 = 0.25" in plain
    assert "computed 8 times" not in plain


@pytest.mark.parametrize(
    ("estimator", "own"),
    [
        ("choice-weighted", {"ridge": 0.25, "passes of the fit": 8,
                             "weight on the fit's own choices": 0.5}),
        ("least-squares", {"ridge": 0.25}),
        ("positive-mean", {}),
    ],
)  # fmt: skip
def test_settings_have_what_the_estimator_has(estimator, own):
    settings = reading_settings(DigitReading(estimator=estimator), 321)
    assert settings["estimator"] == estimator
    assert settings["arms from"] == "subsample"
    assert settings["pictures of a sub-sample"] == 321
    assert settings["sub-samples for mu_* and Sigma_0"] == 500
    assert settings["added to the diagonal of Sigma_0"] == 1e-6
    keys = ("ridge", "passes of the fit", "weight on the fit's own choices")
    assert {key: settings[key] for key in keys if key in settings} == own


def test_the_papers_page_has_the_same_record():
    text = PAPER.read_text()
    lines = [" | ".join(cells) for cells in (RECORD_COLUMNS, *RECORD)]
    assert all(f"| {line} |" in text.replace("`", "") for line in lines)
