"""Operations on decisions and rewards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hierbandits.service.api_problem import Problem, bad_request, not_found
from hierbandits.service.evaluation_log import log_evaluation
from hierbandits.service.operation import Call, Operation
from hierbandits.service.wire import (
    DecisionReply,
    DecisionRequest,
    MeasuresReply,
    MeasuresRequest,
    MetricsReply,
    MetricsRequest,
    RewardReply,
    RewardRequest,
    RewardsReply,
    RewardsRequest,
    RoundReply,
    RoundRequest,
)

if TYPE_CHECKING:
    from hierbandits.service.policy_turns import PolicyTurns
    from hierbandits.service.service import Service
    from hierbandits.service.shared_service import SharedService
    from hierbandits.service.shared_turns import SharedTurns

MOST_OF_A_ROUND = 10_000
_USED = {"learned", "corrected"}


async def decided(
    service: "Service | SharedService", policy: str, request: DecisionRequest
) -> DecisionReply:
    """The decision that a request asks for, stored and counted."""
    reply: DecisionReply = await (await service.find_turns(policy)).ask("decide", request)
    service.metrics.decisions.labels(policy, reply.group).inc()
    if service.logs_evaluations:
        log_evaluation(policy, reply)
    return reply


async def _decide(call: Call) -> DecisionReply:
    return await decided(call.host, call.policy, call.body)


async def _round(call: Call) -> RoundReply:
    wanted = call.body.decisions
    _check_size("decisions", wanted)
    turns = await call.turns()
    outcomes = await turns.ask("call", lambda: turns.live.decide(wanted))
    made = Counter(one.group for one in outcomes if not isinstance(one, Problem))
    for group, number in made.items():
        call.host.metrics.decisions.labels(call.policy, group).inc(number)
    if call.host.logs_evaluations:
        for one in outcomes:
            if not isinstance(one, Problem):
                log_evaluation(call.policy, one)
    return RoundReply([_told(outcome) for outcome in outcomes])


async def _reward(call: Call) -> RewardReply:
    given, received = (call.part("id"), call.body.value), perf_counter()
    reply: RewardReply
    if call.body.metrics:
        turns, both = await call.turns(), [(*given, call.body.metrics)]
        (reply,) = _raised(await turns.ask("call", lambda: _measured(turns, both)))
    else:
        reply = await (await call.turns()).ask("reward", given)
    _count_rewards(call, [reply.status], received)
    return reply


async def _rewards(call: Call) -> RewardsReply:
    given = [(one.id, one.value, one.metrics) for one in call.body.rewards]
    received = perf_counter()
    _check_size("rewards", given)
    turns = await call.turns()
    if any(metrics for *_, metrics in given):
        outcomes = await turns.ask("call", lambda: _measured(turns, given))
    else:
        plain = [(id, value) for id, value, _ in given]
        outcomes = await turns.ask("call", lambda: turns.live.reward(plain))
    told = [one.code if isinstance(one, Problem) else one.status for one in outcomes]
    _count_rewards(call, told, received)
    return RewardsReply([_told(outcome) for outcome in outcomes])


def _measured(
    turns: "PolicyTurns | SharedTurns", given: Sequence[tuple[str, float, Mapping[str, float]]]
) -> Any:
    """Take rewards with their metrics; a reward whose metrics are wrong is not taken."""
    with_metrics = [(id, metrics) for id, _, metrics in given if metrics]
    wrong: dict[str, Problem] = {}
    if with_metrics:
        outcomes = turns.live.measure(with_metrics)
        pairs = zip(with_metrics, outcomes, strict=True)
        wrong = {id: one for (id, _), one in pairs if isinstance(one, Problem)}
    sound = [(id, value) for id, value, _ in given if id not in wrong]
    replies = iter(turns.live.reward(sound) if sound else ())
    return [wrong[id] if id in wrong else next(replies) for id, _, _ in given]


def _raised(outcomes: list[Any]) -> list[Any]:
    """Outcomes, none of which is a problem."""
    for one in outcomes:
        if isinstance(one, Problem):
            raise one
    return outcomes


async def _metrics(call: Call) -> MetricsReply:
    turns, given = await call.turns(), [(call.part("id"), call.body.values)]
    outcomes = await turns.ask("call", lambda: turns.live.measure(given))
    reply: MetricsReply
    (reply,) = _raised(outcomes)
    return reply


async def _many_metrics(call: Call) -> MeasuresReply:
    given = [(one.id, one.values) for one in call.body.metrics]
    _check_size("metrics", given)
    turns = await call.turns()
    outcomes = await turns.ask("call", lambda: turns.live.measure(given))
    return MeasuresReply([_told(outcome) for outcome in outcomes])


async def _correct(call: Call) -> RewardReply:
    id, value, received = call.part("id"), call.body.value, perf_counter()
    turns = await call.turns()
    reply: RewardReply = await turns.ask("call", lambda: turns.live.correct(id, value))
    _count_rewards(call, [reply.status], received)
    return reply


def _count_rewards(call: Call, statuses: list[str], received: float) -> None:
    """Count what became of rewards, and how long after their receipt decisions use them."""
    metrics = call.host.metrics
    for status, number in Counter(statuses).items():
        metrics.rewards.labels(call.policy, status).inc(number)
    if not _USED.isdisjoint(statuses):
        metrics.freshness.labels(call.policy).observe(perf_counter() - received)


async def _show(call: Call) -> dict[str, Any]:
    turns, id = await call.turns(), call.part("id")
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
    Operation(
        "measure", "POST", "/policies/{policy}/decisions/{id:path}/metrics", "reward", _metrics,
        "Give metrics of a decision, each exactly once.", MetricsRequest, MetricsReply,
    ),
    Operation(
        "measure_many", "POST", "/policies/{policy}/metrics", "reward", _many_metrics,
        "Give metrics of many decisions.", MeasuresRequest, MeasuresReply, most_bytes=_ROOM,
    ),
]  # fmt: skip
