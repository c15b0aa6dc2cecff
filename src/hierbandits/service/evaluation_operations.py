"""Operations that judge a candidate by the log of a policy."""

import asyncio

from hierbandits.service.api_problem import bad_request
from hierbandits.service.candidate import Candidate
from hierbandits.service.evaluation_reply import EvaluationReply
from hierbandits.service.operation import Call, Operation
from hierbandits.service.policy_settings import PolicySettings


async def _start(call: Call) -> EvaluationReply:
    book, candidate = call.service.book, call.body
    settings = await candidate_settings(candidate, book.turns(call.policy).live.settings)
    record = book.record(call.policy)  # it may be deleted by now
    return call.service.evaluations.start(record, settings, candidate.confidence)


async def candidate_settings(candidate: Candidate, live: PolicySettings) -> PolicySettings:
    """The settings that a candidate means, beside those that are served; a Problem if wrong."""
    try:
        return await asyncio.to_thread(candidate.settings, live)
    except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
        raise bad_request(str(error)) from error


async def _show(call: Call) -> EvaluationReply:
    record = call.service.book.record(call.policy)
    return call.service.evaluations.find(record, call.part("evaluation"))


OPERATIONS = [
    Operation(
        "start_evaluation", "POST", "/policies/{policy}/evaluations", "read", _start,
        "Judge a prior or a rule by the log of a policy, before it is used.",
        Candidate, EvaluationReply, status=202, most_bytes=16 << 20,
    ),
    Operation(
        "show_evaluation", "GET", "/policies/{policy}/evaluations/{evaluation}", "read", _show,
        "An evaluation: whether it is done, and what it has found.", None, EvaluationReply,
    ),
]  # fmt: skip
