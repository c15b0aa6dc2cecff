"""Readings of the paper's words on its digits."""

import pytest

from hierbandits.environments.digit_reading import DigitReading


def test_the_default_is_what_the_record_of_numbers_has():
    assert DigitReading() == DigitReading(estimator="choice-weighted", arms_from="subsample")


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        (
            {"estimator": "mean"},
            "estimator must be one of choice-weighted, least-squares, positive-mean, got 'mean'",
        ),
        ({"arms_from": ""}, "arms_from must be one of subsample, test-half, got ''"),
    ],
)
def test_bad_readings_are_named(reading, message):
    with pytest.raises(ValueError, match=message):
        DigitReading(**reading)
