"""The tables of an evaluation, as text cells for terminals and pages."""

from collections.abc import Iterator, Sequence
from math import floor, isfinite, log10

from hierbandits.evaluation.evaluation import Evaluation

LABELS = {"logged": "mean", "ips": "IPS", "snips": "SNIPS", "dm": "DM", "dr": "DR"}
"""How methods are called in tables and figures; replay goes by its name."""

NOTHING = "–"

Table = tuple[str, Sequence[str], list[list[str]]]


def tables(evaluation: Evaluation) -> Iterator[Table]:
    """Heading, columns and rows of each table."""
    yield _estimates(evaluation)
    if evaluation.diagnostics:
        yield _diagnostics(evaluation)
    if evaluation.replays:
        yield _replays(evaluation)


def _estimates(evaluation: Evaluation) -> Table:
    unit = unit_of([estimate.error for estimate in evaluation.estimates])
    places = decimals([estimate.error / unit for estimate in evaluation.estimates])
    rows = []
    for each in evaluation.estimates:
        gain_reach = (each.gain_high - each.gain) / unit
        gain = within(each.gain / unit, gain_reach, places, sign=True)
        rows.append(
            [
                each.policy,
                LABELS.get(each.method, each.method),
                within(each.value / unit, (each.high - each.value) / unit, places),
                NOTHING if each.method == "logged" else gain,
                f"{each.rows:,}",
            ]
        )
    columns = ["policy", "method", "mean reward", "gain over log", "rows"]
    told = "" if unit == 1 else f", in units of {unit:g}"
    return f"Estimates, ± {100 * evaluation.level:g} % intervals{told}", columns, rows


def _diagnostics(evaluation: Evaluation) -> Table:
    rows = []
    for policy, found in evaluation.diagnostics.items():
        reach = found.mean_weight_high - found.mean_weight
        rows.append(
            [
                policy,
                f"{found.effective_rows:,.0f}",
                f"{found.effective_rows / found.rows:.1%}",
                f"{found.largest_weight:.4g}",
                within(found.mean_weight, reach, 3),
                percent(found.unsupported),
            ]
        )
    columns = ["policy", "effective rows", "of all", "largest", "mean weight", "never logged"]
    return "Weights: can they be trusted?", columns, rows


def _replays(evaluation: Evaluation) -> Table:
    rows = [
        [
            policy,
            f"{found.offered:,}",
            f"{found.kept:,}",
            f"{found.accepted:,}",
            f"{found.acceptance:.1%}",
        ]
        for policy, found in evaluation.replays.items()
    ]
    columns = ["policy", "rows", "kept at even odds", "accepted", "of all"]
    return "Replay", columns, rows


def unit_of(errors: Sequence[float]) -> float:
    """One; but a power of a thousand where the smallest error is below 1e-5, or above 1,000."""
    known = [error for error in errors if isfinite(error) and error > 0]
    if not known or 1e-5 <= min(known) < 1e3:
        return 1.0
    return float(10.0 ** (3 * floor(log10(min(known)) / 3)))


def decimals(errors: Sequence[float]) -> int:
    """Places after the point that show two digits of the smallest error."""
    known = [error for error in errors if isfinite(error) and error > 0]
    return min(6, max(0, 1 - floor(log10(min(known))))) if known else 3


def percent(share: float) -> str:
    """A share, never rounded to nothing."""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def within(value: float, reach: float, places: int, *, sign: bool = False) -> str:
    """A number and half its interval's width, with a dash for what is not known."""
    if not isfinite(value):
        return NOTHING
    form = f"{'+' if sign else ''}.{places}f"
    half = format(reach, f".{places}f") if isfinite(reach) else NOTHING
    return f"{format(value, form)} ± {half}"
