"""Amounts as text: rewards, shares and differences, with the digits that their errors leave."""

from collections.abc import Sequence
from math import floor, isfinite, log10

NOTHING = "–"
"""What stands for a number that is not known."""


def unit_of(errors: Sequence[float]) -> float:
    """1, or a power of a thousand if the smallest error is below 1e-5 or above 1,000."""
    known = [error for error in errors if isfinite(error) and error > 0]
    if not known or 1e-5 <= min(known) < 1e3:
        return 1.0
    return float(10.0 ** (3 * floor(log10(min(known)) / 3)))


def decimals(errors: Sequence[float]) -> int:
    """How many places after the point show two digits of the smallest error."""
    known = [error for error in errors if isfinite(error) and error > 0]
    return min(6, max(0, 1 - floor(log10(min(known))))) if known else 3


def percent(share: float) -> str:
    """A share in percent; a small one is not rounded to zero."""
    return "<0.1 %" if 0 < share < 0.0005 else rounded_percent(share)


def rounded_percent(share: float) -> str:
    """A share in percent, with one digit after the point."""
    return f"{100 * share:.1f} %"


def within(value: float, half_length: float, places: int, *, sign: bool = False) -> str:
    """A number and half its interval's length, with a dash for what is not known."""
    if not isfinite(value):
        return NOTHING
    form = f"{'+' if sign else ''}.{places}f"
    half = format(half_length, f".{places}f") if isfinite(half_length) else NOTHING
    return f"{format(value, form)} ± {half}"


def number(value: float, half: float, *, sign: bool = False) -> str:
    """A number down to the second digit of half its interval's length."""
    if not half > 0:
        return f"{value:{'+' if sign else ''}.3g}"
    places = 1 - floor(log10(half))
    if places > 6:
        return f"{value:{'+' if sign else ''}.3g}"
    return f"{round(value, places):{'+' if sign else ''},.{max(places, 0)}f}"
