"""Metrics that are given of decisions: what is answered, and what they say of an exposure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from hierbandits.service.api_problem import Problem, bad_request, not_found
from hierbandits.service.guardrail import EXPOSURE
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.wire import MetricsReply

GivenMetrics: TypeAlias = Sequence[tuple[str, Mapping[str, float]]]
"""Ids of decisions, and values of metrics by name."""
MetricRow: TypeAlias = tuple[str, str, float]
"""The id of a decision, the name of a metric, and its value."""


def answer_metrics(
    given: GivenMetrics,
    made: Collection[str],
    known: dict[tuple[str, str], float],
    settings: PolicySettings,
) -> tuple[list[MetricsReply | Problem], list[MetricRow]]:
    """What to tell of each decision, and the metrics that are new.

    `made` has the ids of decisions that there are, `known` the values that came before; those that
    are new are put there.
    """
    outcomes: list[MetricsReply | Problem] = []
    rows: list[MetricRow] = []
    for id, values in given:
        problem = _problem(id, values, made, known, settings)
        if problem is not None:
            outcomes.append(problem)
            continue
        new = [name for name in values if (id, name) not in known]
        told = {name: "stored" if name in new else "duplicate" for name in values}
        known |= {(id, name): values[name] for name in new}
        rows += [(id, name, values[name]) for name in new]
        outcomes.append(MetricsReply(id, told))
    return outcomes, rows


def _problem(
    id: str,
    values: Mapping[str, float],
    made: Collection[str],
    known: Mapping[tuple[str, str], float],
    settings: PolicySettings,
) -> Problem | None:
    """What is wrong with metrics of a decision."""
    if id not in made:
        return not_found("decision", id)
    guardrails = {one.name: one for one in settings.guardrails}
    for name, value in values.items():
        if name == EXPOSURE and settings.ratio_check == "exposures":
            pass
        elif name not in guardrails:
            return bad_request(f"metrics must be of guardrails, got {name!r:.120}")
        else:
            try:
                guardrails[name].check_value(value)
            except ValueError as error:
                return bad_request(str(error))
        if known.get((id, name), value) != value:
            text = f"decision {id!r} has {known[id, name]} of {name}, got {value}"
            return Problem(409, "conflict", text)
    return None


def exposure_of(decision: Mapping[str, Any]) -> list[Any] | None:
    """What is seen if a decision is shown; None if it could not have been another."""
    if "odds" not in decision:
        return None
    return [decision["arm"], decision["offered"], decision["odds"]]
