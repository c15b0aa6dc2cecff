"""Numbers rounded for people."""

from math import floor, isfinite, isnan, log10


def to_its_error(value: float, error: float, least: int = 3) -> str:
    """A number down to the second digit of its error, in at least `least` digits."""
    digits = least
    if value != 0 and error > 0 and isfinite(value / error):
        digits = floor(log10(abs(value))) - floor(log10(error)) + 2
        digits = min(max(digits, least), 15)
    return f"{value:.{digits}g}"


def short_number(value: float) -> str:
    """A number in three digits, or in whole ones where it has more before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def in_percent(share: float) -> str:
    """A share in three digits."""
    return f"{100 * share:.3g} %"


def short_percents(share: float) -> str:
    """A share in percent without its sign, in two digits; from 99 on in three."""
    text = f"{100 * share:.2g}"
    return text if abs(100 * share) < 99 else f"{100 * share:.3g}"


def shown_error(error: float, digits: int = 2) -> str:
    """An error with so many digits after the point, or a dash if it is not known."""
    return "–" if isnan(error) else f"{error:.{digits}f}"
