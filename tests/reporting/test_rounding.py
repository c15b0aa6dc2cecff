"""Numbers are shown as far as their errors let them be known."""

from hierbandits.reporting.rounding import short_number, short_percents, shown_error, to_its_error


def test_a_mean_is_shown_in_the_digits_that_its_error_leaves():
    shown = {(1000.9749, 0.0432): "1000.975", (0.39312, 0.0431): "0.393", (-0.0021, 0.3): "-0.0021",
             (3.93e-7, 4.31e-8): "3.93e-07", (0.0, 0.1): "0", (2.0, 0.0): "2",
             (123456789.25, 0.5): "123456789.25"}  # fmt: skip
    for (value, error), text in shown.items():
        assert to_its_error(value, error) == text


def test_an_error_that_is_not_known_is_a_dash():
    assert (shown_error(0.125), shown_error(12.6, 0), shown_error(float("nan"))) == (
        "0.12", "13", "–",
    )  # fmt: skip


def test_a_short_number_has_three_digits_or_whole_ones():
    shown = {12.345: "12.3", 0.00012345: "0.000123", 1234.5: "1,234", -99999.4: "-99,999",
             1e6: "1e+06", 999.4: "999", 0.0: "0"}  # fmt: skip
    assert {value: short_number(value) for value in shown} == shown


def test_percents_have_two_digits_and_a_hundred_is_a_hundred():
    shown = {0.0012345: "0.12", 0.4567: "46", 0.9849: "98", 0.996: "99.6", 0.99996: "100",
             1.0: "100", 0.0: "0"}  # fmt: skip
    assert {share: short_percents(share) for share in shown} == shown
