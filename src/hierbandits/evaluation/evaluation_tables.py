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
from hierbandits.evaluation.difference import LOGGED, Difference
from hierbandits.evaluation.evaluation import Estimate, Evaluation

LABELS = {"logged": "mean", "ips": "IPS", "snips": "SNIPS", "dm": "DM", "dr": "DR"}
"""How methods are called in tables and figures; replay goes by its name."""

SAME = "the same arms"
"""What a policy that plays as the best single arm does has in place of a difference."""

Table = tuple[str, Sequence[str], list[list[str]]]


def tables(evaluation: Evaluation) -> Iterator[Table]:
    """Heading, columns and rows of each table: first the numbers that the verdict is about."""
    first, others = _apart(evaluation)
    if first:
        yield _estimates(evaluation, "Estimates", [evaluation.estimates[0], *first])
    if evaluation.replays:
        yield _replays(evaluation)
    if others:
        yield _estimates(evaluation, "The same by other methods", others)
    if evaluation.diagnostics:
        yield _diagnostics(evaluation)


def _apart(evaluation: Evaluation) -> tuple[list[Estimate], list[Estimate]]:
    """The estimates of frozen policies: by the method to be trusted first, and by others."""
    trusted = evaluation.trusted()
    frozen = [each for each in evaluation.estimates[1:] if each.method != "replay"]
    first = [each for each in frozen if each in trusted]
    return first, [each for each in frozen if each not in trusted]


def _estimates(evaluation: Evaluation, title: str, shown: Sequence[Estimate]) -> Table:
    known = [each for each in evaluation.estimates if each.method != "replay"]
    unit = unit_of([each.error for each in known])
    places = decimals([each.error / unit for each in known])
    to_log, to_arm = (
        _differences(evaluation, LOGGED),
        _differences(evaluation, evaluation.reference),
    )
    columns = ["policy", "method", "mean reward", "over the log"]
    columns += ["over the best arm"] if evaluation.reference else []
    rows = []
    for each in shown:
        pair = each.policy, each.method
        rows.append(
            [
                each.policy,
                LABELS[each.method],
                within(each.value / unit, (each.high - each.value) / unit, places),
                _more(to_log.get(pair), unit, places),
            ]
        )
        if evaluation.reference:
            rows[-1].append(_more(to_arm.get(pair), unit, places))
        rows[-1].append(f"{each.rows:,}")
    units = "" if unit == 1 else f", in units of {unit:g}"
    heading = f"{title}, ± {100 * evaluation.confidence:g} % intervals{units}"
    return heading, [*columns, "rows"], rows


def _differences(evaluation: Evaluation, against: str | None) -> dict[tuple[str, str], Difference]:
    return {(e.policy, e.method): e for e in evaluation.differences if e.against == against}


def _more(difference: Difference | None, unit: float, places: int) -> str:
    if difference is None:
        return NOTHING
    if difference.against != LOGGED and difference.value == difference.error == 0:
        return SAME
    half = (difference.high - difference.value) / unit
    return within(difference.value / unit, half, places, sign=True)


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
    known = [evaluation[policy, "replay"] for policy in evaluation.replays]
    unit = unit_of([each.error for each in known])
    places = decimals([each.error / unit for each in known])
    to_log = _differences(evaluation, LOGGED)
    rows = []
    for each in known:
        replayed = evaluation.replays[each.policy]
        rows.append(
            [
                each.policy,
                within(each.value / unit, (each.high - each.value) / unit, places),
                _more(to_log[each.policy, "replay"], unit, places),
                f"{replayed.accepted:,}",
                f"{replayed.kept:,}",
                f"{replayed.offered:,}",
            ]
        )
    columns = ["policy", "mean reward", "over the log", "decisions", "thinned", "rows"]
    units = "" if unit == 1 else f", in units of {unit:g}"
    return f"Replay: while it learns, from no data{units}", columns, rows
