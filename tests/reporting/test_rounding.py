"""Numbers are shown as far as their errors let them be known."""

from hierbandits.reporting.rounding import to_its_error


def test_a_mean_is_shown_in_the_digits_that_its_error_leaves():
    shown = {(1000.9749, 0.0432): "1000.975", (0.39312, 0.0431): "0.393", (-0.0021, 0.3): "-0.0021",
             (3.93e-7, 4.31e-8): "3.93e-07", (0.0, 0.1): "0", (2.0, 0.0): "2",
             (123456789.25, 0.5): "123456789.25"}  # fmt: skip
    for (value, error), text in shown.items():
        assert to_its_error(value, error) == text
