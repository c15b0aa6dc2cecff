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
        half_length = (each.improvement_high - each.improvement) / unit
        improvement = within(each.improvement / unit, half_length, places, sign=True)
        rows.append(
            [
                each.policy,
                LABELS.get(each.method, each.method),
                within(each.value / unit, (each.high - each.value) / unit, places),
                NOTHING if each.method == "logged" else improvement,
                f"{each.rows:,}",
            ]
        )
    columns = ["policy", "method", "mean reward", "improvement over log", "rows"]
    units = "" if unit == 1 else f", in units of {unit:g}"
    heading = f"Estimates, ± {100 * evaluation.confidence:g} % intervals{units}"
    return heading, columns, rows


def _diagnostics(evaluation: Evaluation) -> Table:
    rows = []
    for policy, diagnosis in evaluation.diagnostics.items():
        half_length = diagnosis.mean_weight_high - diagnosis.mean_weight
        rows.append(
            [
                policy,
                f"{diagnosis.effective_rows:,.0f}",
                _rounded(diagnosis.effective_rows / diagnosis.rows),
                f"{diagnosis.largest_weight:.4g}",
                within(diagnosis.mean_weight, half_length, 3),
                percent(diagnosis.unsupported),
            ]
        )
    columns = ["policy", "effective rows", "of all", "largest", "mean weight", "never logged"]
    return "Weights: can they be trusted?", columns, rows


def _replays(evaluation: Evaluation) -> Table:
    rows = [
        [
            policy,
            f"{replayed.offered:,}",
            f"{replayed.kept:,}",
            f"{replayed.accepted:,}",
            _rounded(replayed.acceptance),
        ]
        for policy, replayed in evaluation.replays.items()
    ]
    columns = ["policy", "rows", "left after thinning", "accepted", "of all"]
    return "Replay", columns, rows


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
    return "<0.1 %" if 0 < share < 0.0005 else _rounded(share)


def _rounded(share: float) -> str:
    return f"{100 * share:.1f} %"


def within(value: float, half_length: float, places: int, *, sign: bool = False) -> str:
    """A number and half its interval's length, with a dash for what is not known."""
    if not isfinite(value):
        return NOTHING
    form = f"{'+' if sign else ''}.{places}f"
    half = format(half_length, f".{places}f") if isfinite(half_length) else NOTHING
    return f"{format(value, form)} ± {half}"
