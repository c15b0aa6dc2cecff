"""Operations on decisions and rewards."""

from collections import Counter
from typing import TYPE_CHECKING, Any

from hierbandits.service.api_problem import Problem, bad_request, not_found
from hierbandits.service.evaluation_log import log_evaluation
from hierbandits.service.operation import Call, Operation
from hierbandits.service.wire import (
    DecisionReply,
    DecisionRequest,
    RewardReply,
    RewardRequest,
    RewardsReply,
    RewardsRequest,
    RoundReply,
    RoundRequest,
)

if TYPE_CHECKING:
    from hierbandits.service.service import Service

MOST_OF_A_ROUND = 10_000


async def decided(service: "Service", policy: str, request: DecisionRequest) -> DecisionReply:
    """The decision that a request asks for, stored and counted."""
    reply: DecisionReply = await service.book.turns(policy).ask("decide", request)
    service.metrics.decisions.labels(policy, reply.group).inc()
    if service.logs_evaluations:
        log_evaluation(policy, reply)
    return reply


async def _decide(call: Call) -> DecisionReply:
    return await decided(call.service, call.policy, call.body)


async def _round(call: Call) -> RoundReply:
    wanted = call.body.decisions
    _check_size("decisions", wanted)
    turns = call.service.book.turns(call.policy)
    outcomes = await turns.ask("call", lambda: turns.live.decide(wanted))
    made = Counter(one.group for one in outcomes if not isinstance(one, Problem))
    for group, number in made.items():
        call.service.metrics.decisions.labels(call.policy, group).inc(number)
    if call.service.logs_evaluations:
        for one in outcomes:
            if not isinstance(one, Problem):
                log_evaluation(call.policy, one)
    return RoundReply([_told(outcome) for outcome in outcomes])


async def _reward(call: Call) -> RewardReply:
    given = call.part("id"), call.body.value
    reply: RewardReply = await call.service.book.turns(call.policy).ask("reward", given)
    call.service.metrics.rewards.labels(call.policy, reply.status).inc()
    return reply


async def _rewards(call: Call) -> RewardsReply:
    given = [(one.id, one.value) for one in call.body.rewards]
    _check_size("rewards", given)
    turns = call.service.book.turns(call.policy)
    outcomes = await turns.ask("call", lambda: turns.live.reward(given))
    statuses = (one.code if isinstance(one, Problem) else one.status for one in outcomes)
    for status, number in Counter(statuses).items():
        call.service.metrics.rewards.labels(call.policy, status).inc(number)
    return RewardsReply([_told(outcome) for outcome in outcomes])


async def _correct(call: Call) -> RewardReply:
    id, value = call.part("id"), call.body.value
    turns = call.service.book.turns(call.policy)
    reply: RewardReply = await turns.ask("call", lambda: turns.live.correct(id, value))
    call.service.metrics.rewards.labels(call.policy, reply.status).inc()
    return reply


async def _show(call: Call) -> dict[str, Any]:
    turns, id = call.service.book.turns(call.policy), call.part("id")
    parts: dict[str, Any] | None = await turns.ask("look", lambda: turns.live.view.decision(id))
    if parts is None:
        raise not_found("decision", id)
    return parts


def _check_size(name: str, rows: list[Any]) -> None:
    if not 0 < len(rows) <= MOST_OF_A_ROUND:
        raise bad_request(f"{name} must be 1 to {MOST_OF_A_ROUND}, got {len(rows)}")


def _told(outcome: Any) -> Any:
    """An outcome as part of a reply."""
    return outcome.to_dict() if isinstance(outcome, Problem) else outcome


_ROOM = 16 << 20
OPERATIONS = [
    Operation(
        "decide", "POST", "/policies/{policy}/decisions", "decide", _decide,
        "Choose an arm for a task.", DecisionRequest, DecisionReply,
    ),
    Operation(
        "decide_round", "POST", "/policies/{policy}/rounds", "decide", _round,
        "Choose arms for many tasks at once.", RoundRequest, RoundReply, most_bytes=_ROOM,
    ),
    Operation(
        "show_decision", "GET", "/policies/{policy}/decisions/{id:path}", "read", _show,
        "What was decided, and its reward.", None, dict[str, Any],
    ),
    Operation(
        "reward", "POST", "/policies/{policy}/decisions/{id:path}/reward", "reward", _reward,
        "Give the reward of a decision, exactly once.", RewardRequest, RewardReply,
    ),
    Operation(
        "correct", "PUT", "/policies/{policy}/decisions/{id:path}/reward", "reward", _correct,
        "Replace the reward of a decision.", RewardRequest, RewardReply,
    ),
    Operation(
        "reward_many", "POST", "/policies/{policy}/rewards", "reward", _rewards,
        "Give the rewards of many decisions.", RewardsRequest, RewardsReply, most_bytes=_ROOM,
    ),
]  # fmt: skip
