"""What the service answers where a policy has no new answer."""

from typing import Any

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.stored_event import plain_task
from hierbandits.service.wire import DecisionReply, DecisionRequest, RewardReply


def answer_again(request: DecisionRequest, parts: dict[str, Any] | None) -> DecisionReply | Problem:
    """The answer to a request whose decision was made before."""
    if parts is None:
        return Problem(410, "erased", f"decision {request.id!r} was of a task that is deleted")
    if parts["task"] != plain_task(request.task):
        return Problem(
            409, "id_taken", f"id must be new, got {request.id!r}, which is of another task"
        )
    return DecisionReply(
        parts["id"], parts["task"], parts["arm"], parts["propensity"], parts["policy_version"],
        parts.get("group", "policy"), parts.get("gap"), parts.get("would"), True,
    )  # fmt: skip


def answer_late(parts: dict[str, Any], value: float) -> RewardReply | Problem | None:
    """The answer to a reward of a decision that an agent has forgotten; None if it is new."""
    id, reward = parts["id"], parts["reward"]
    if reward is None or parts["provisional"]:
        return None
    if reward == value:
        return RewardReply(id, "duplicate")
    return Problem(409, "conflict", f"decision {id!r} has the reward {reward}, got {value}")


def answer_correction(parts: dict[str, Any], value: float) -> RewardReply | Problem | None:
    """The answer to a correction of a reward; None if it is new."""
    id, reward = parts["id"], parts["reward"]
    if reward is None:
        return Problem(409, "no_reward_yet", f"decision {id!r} must have a reward to correct")
    if reward == value and not parts["provisional"]:
        return RewardReply(id, "duplicate")
    return None


def refusal(error: Exception) -> Problem:
    """A Problem for what the library refuses."""
    text = str(error)
    if text.startswith("pending decisions must be at most"):
        return Problem(429, "too_many_pending", text, retry_after=1.0)
    return bad_request(text)
