"""OpenFeature's remote evaluation protocol (OFREP): policies are flags, targeting keys tasks."""

import asyncio
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response
from starlette.types import Scope

from hierbandits.service.api_problem import PolicyGone, Problem
from hierbandits.service.decision_operations import decided
from hierbandits.service.evaluation_log import REASONS
from hierbandits.service.operation import JSON, Call, Operation
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.wire import (
    DecisionReply,
    DecisionRequest,
    FlagReply,
    FlagRequest,
    FlagsReply,
)

if TYPE_CHECKING:
    from hierbandits.service.shared_turns import SharedTurns

_KEY = "targetingKey"
_CODES = ("TARGETING_KEY_MISSING", "INVALID_CONTEXT")


async def _flag(call: Call) -> FlagReply:
    request = _request(call.body, await call.turns())
    try:
        return _flag_reply(call.policy, await decided(call.host, call.policy, request))
    except Problem as problem:
        raise _of_the_context(problem) from problem


async def _flags(call: Call) -> Response:
    """All policies that the caller may see, unless nothing has changed since they last asked."""
    _task_of(call.body)
    marks, token = await call.host.policy_marks(), call.token
    seen = {name: mark for name, mark in marks.items() if token is None or token.sees(name)}
    tag = _tag(call, seen)
    if tag in call.header(b"if-none-match"):
        return Response(status_code=304, headers={"etag": tag})
    outcomes = await asyncio.gather(
        *(_decided(call, name) for name in seen), return_exceptions=True
    )
    flags: list[Any] = []
    for name, outcome in zip(seen, outcomes, strict=True):
        if isinstance(outcome, DecisionReply):
            flags.append(_flag_reply(name, outcome))
        elif isinstance(outcome, Problem):
            flags.append({"key": name} | _failure(_of_the_context(outcome)))
        else:
            raise outcome
    headers = {} if any(isinstance(one, dict) for one in flags) else {"etag": tag}
    return Response(msgspec.json.encode(FlagsReply(flags)), 200, headers, JSON)


async def _decided(call: Call, name: str) -> DecisionReply:
    try:
        return await _decided_once(call, name)
    except PolicyGone:  # of before; there may be a new one of its name
        return await _decided_once(call, name)


async def _decided_once(call: Call, name: str) -> DecisionReply:
    request = _request(call.body, await call.host.find_turns(name))
    return await decided(call.host, name, request)


def _tag(call: Call, marks: dict[str, list[Any]]) -> str:
    """The same as long as the same is asked of the same versions with the same arms."""
    data = msgspec.json.encode([call.body.context, marks], order="deterministic")
    return f'"{sha256(data).hexdigest()[:32]}"'


def _task_of(body: FlagRequest) -> str:
    context = {} if body.context is None else body.context
    if not isinstance(context, dict):
        raise Problem(400, "INVALID_CONTEXT", "context must be an object")
    task = context.get(_KEY)
    if task is None or task == "":
        raise Problem(400, "TARGETING_KEY_MISSING", f"context.{_KEY} must be given: the task")
    if not isinstance(task, str):
        raise Problem(400, "INVALID_CONTEXT", f"context.{_KEY} must be a string")
    return task


def _request(body: FlagRequest, turns: "PolicyTurns | SharedTurns") -> DecisionRequest:
    """The decision that a flag asks for; who comes matters to policies with an encoder alone."""
    task, context = _task_of(body), None
    if turns.live.settings.encoder is not None:
        context = {name: value for name, value in body.context.items() if name != _KEY}
    return DecisionRequest(task, context=context)


def _flag_reply(name: str, reply: DecisionReply) -> FlagReply:
    metadata: dict[str, Any] = {"id": reply.id, "version": reply.version, "group": reply.group}
    if reply.propensity is not None:
        metadata["propensity"] = reply.propensity
    return FlagReply(name, reply.arm, str(reply.arm), REASONS[reply.group], metadata)


def _of_the_context(problem: Problem) -> Problem:
    """What a policy cannot decide for this context, in the words of OFREP."""
    if problem.status != 400:
        return problem
    return Problem(400, "INVALID_CONTEXT", problem.detail)


def _failure(problem: Problem) -> dict[str, Any]:
    code = "GENERAL"
    if problem.code in _CODES:
        code = problem.code
    elif problem.status == 404:
        code = "FLAG_NOT_FOUND"
    elif problem.status in (400, 413):
        code = "PARSE_ERROR"
    return {"errorCode": code, "errorDetails": problem.detail}


def _refusal(problem: Problem, scope: Scope) -> dict[str, Any]:
    """A problem as OFREP wants it."""
    key = scope["path_params"].get("policy")
    return ({} if key is None else {"key": key}) | _failure(problem)


OPERATIONS = [
    Operation(
        "evaluate_flag", "POST", "/ofrep/v1/evaluate/flags/{policy}", "decide", _flag,
        "OFREP: choose an arm for the task that is the targeting key.", FlagRequest, FlagReply,
        refusal=_refusal,
    ),
    Operation(
        "evaluate_flags", "POST", "/ofrep/v1/evaluate/flags", "decide", _flags,
        "OFREP: choose an arm of every policy for the task that is the targeting key.",
        FlagRequest, FlagsReply, refusal=_refusal,
    ),
]  # fmt: skip
