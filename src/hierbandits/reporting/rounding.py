"""Numbers rounded for people."""

from math import floor, isfinite, log10


def to_its_error(value: float, error: float, least: int = 3) -> str:
    """A number down to the second digit of its error, in at least `least` digits."""
    digits = least
    if value != 0 and error > 0 and isfinite(value / error):
        digits = floor(log10(abs(value))) - floor(log10(error)) + 2
        digits = min(max(digits, least), 15)
    return f"{value:.{digits}g}"
