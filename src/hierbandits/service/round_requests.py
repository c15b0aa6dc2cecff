"""Requests for decisions, sorted into those that one round can serve."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from hierbandits.service.api_problem import PolicyGone, Problem
from hierbandits.service.decision_ids import DecisionIds
from hierbandits.service.decision_plan import DecisionPlan
from hierbandits.service.policy_answers import answer_again, refusal
from hierbandits.service.stored_event import as_text
from hierbandits.service.wire import DecisionReply, DecisionRequest


class RoundKind(NamedTuple):
    """What the requests of one round have in common."""

    best: bool
    has_context: bool
    is_previous: bool
    """Whether the version before decides, while a candidate is ramped."""


class MadeDecisions(Protocol):
    """Where decisions are found that were made before."""

    ids: DecisionIds

    def made(self, ids: Sequence[str]) -> Mapping[str, dict[str, Any] | None]:
        """What is stored of decisions by their ids, None if it is erased; others are left out."""


class RoundRequests:
    """Says of requests, by their places, which are answered, and which go into one round."""

    def __init__(
        self, requests: Sequence[DecisionRequest], view: MadeDecisions, plan: DecisionPlan
    ) -> None:
        self.answered: dict[int, DecisionReply | Problem] = {}
        """What is told at once: decisions that were made before, and what is wrong."""
        self.together: dict[RoundKind, list[int]] = {}
        """Those that may go into one round."""
        self.repeated: list[int] = []
        """Those that come after the others: each is of an id or a task that is met before."""
        given = [request.id for request in requests if request.id is not None]
        known = view.made(given) if given else {}
        seen: set[str] = set()
        met: set[str] = set()  # tasks that may get the arm which they keep
        for i, request in enumerate(requests):
            id = request.id
            if id is not None:
                try:
                    view.ids.check_given(id)
                except Problem as problem:
                    self.answered[i] = problem
                    continue
                if id in known:
                    self.answered[i] = answer_again(request, known[id])
                    continue
                if id in seen:
                    self.repeated.append(i)
                    continue
                seen.add(id)
            if plan.is_sticky:
                task = as_text(request.task)
                if task in met:
                    self.repeated.append(i)
                    continue
                met.add(task)
            kind = RoundKind(request.best, request.context is not None, plan.is_previous(request))
            self.together.setdefault(kind, []).append(i)


def round_or_each(
    requests: list[DecisionRequest],
    decide: Callable[[list[DecisionRequest]], Sequence[DecisionReply | Problem]],
) -> list[DecisionReply | Problem]:
    """One round of requests; if it is refused, each of them alone."""
    try:
        return list(decide(requests))
    except PolicyGone:
        raise
    except Problem as problem:
        if len(requests) == 1:
            return [problem]
    except (ValueError, LookupError, TypeError) as error:
        if len(requests) == 1:
            return [refusal(error)]
    return [round_or_each([request], decide)[0] for request in requests]
