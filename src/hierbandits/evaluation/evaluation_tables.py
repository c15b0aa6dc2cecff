"""The tables of an evaluation, as text cells for terminals and pages."""

from collections.abc import Iterator, Sequence

from hierbandits.evaluation.amounts import (
    NOTHING,
    decimals,
    percent,
    rounded_percent,
    unit_of,
    within,
)
from hierbandits.evaluation.evaluation import Evaluation

LABELS = {"logged": "mean", "ips": "IPS", "snips": "SNIPS", "dm": "DM", "dr": "DR"}
"""How methods are called in tables and figures; replay goes by its name."""

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
                rounded_percent(diagnosis.effective_rows / diagnosis.rows),
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
            rounded_percent(replayed.acceptance),
        ]
        for policy, replayed in evaluation.replays.items()
    ]
    columns = ["policy", "rows", "left after thinning", "accepted", "of all"]
    return "Replay", columns, rows
