"""Amounts as text."""

import numpy as np

from hierbandits.evaluation.amounts import decimals, number, percent, within


def test_small_shares_are_not_rounded_to_zero():
    assert [percent(share) for share in (0.0, 1e-4, 0.0006, 0.25)] == [
        "0.0 %",
        "<0.1 %",
        "0.1 %",
        "25.0 %",
    ]


def test_numbers_have_the_digits_of_the_smallest_error():
    assert [decimals(errors) for errors in ([0.012, 0.5], [3.0], [np.nan, 0.0], [1e-9])] == [
        3,
        1,
        3,
        6,
    ]
    assert within(0.12345, 0.02, 3) == "0.123 ± 0.020"
    assert within(0.12345, np.nan, 2, sign=True) == "+0.12 ± –"
    assert within(np.nan, 1.0, 2) == "–"


def test_an_amount_has_two_digits_of_its_interval():
    assert [number(0.12345, half) for half in (0.5, 0.02, 0.0001)] == ["0.12", "0.123", "0.12345"]
    assert number(12345.0, 678.0) == "12,340"
    assert number(0.031, 0.02, sign=True) == "+0.031"
    assert number(1.5e-9, 1e-9) == "1.5e-09"
    assert number(0.5, np.nan) == number(0.5, 0.0) == "0.5"
