"""Operations that bring a candidate into a policy: evaluate it, shadow it, ramp it."""

import asyncio
from typing import Any, Literal

import msgspec

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.candidate import Candidate
from hierbandits.service.operation import Call, Operation
from hierbandits.service.policy_archive import PolicyArchive
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.storage import PolicyRecord, Storage, VersionRecord
from hierbandits.service.stored_event import CHANGE, decoded, encoded

NEXT = {None: "evaluate", "evaluate": "shadow", "shadow": "ramp"}
"""After each step the next."""
_SUFFIX = ".candidate"
_MOST_EVENTS = 20_000  # of a shadow that a look reads


class PromotionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The next step of a candidate."""

    step: Literal["evaluate", "shadow", "ramp", "drop"]
    candidate: Candidate | None = None
    """To evaluate: the settings that are other than now."""
    steps: list[RampStep] = []
    """To ramp: the share of tasks that the candidate decides for, step by step."""


class PromotionReply(msgspec.Struct):
    """Where a candidate stands."""

    step: str | None
    """The step that it has reached: "evaluate" or "shadow"; null if there is no candidate."""
    next: str
    """The step that comes next."""
    evaluation: str | None = None
    """The id of the evaluation, which is at /policies/{policy}/evaluations."""
    verdict: str | None = None
    shadow: str | None = None
    """The policy in the shadow, with a log of its own."""
    shown: int = 0
    """Decisions that it was shown lately."""
    agreed: int = 0
    """Of these, how often it would have done the same."""


async def _show(call: Call) -> PromotionReply:
    book = call.service.book
    found = book.turns(call.policy).live.rollout.state.promotion
    if found is None:
        return PromotionReply(None, "evaluate")
    reply = PromotionReply(
        found["step"], NEXT[found["step"]], found["evaluation"],
        found.get("verdict"), found.get("shadow"),
    )  # fmt: skip
    if reply.shadow in book.names:
        record = book.record(reply.shadow)
        reply.shown, reply.agreed = await asyncio.to_thread(
            agreement, record, call.service.storage, found["after"]
        )
    return reply


def agreement(record: PolicyRecord, storage: Storage, after: int) -> tuple[int, int]:
    """How many decisions a shadow was shown lately, and how often it would do the same."""
    shown = agreed = 0
    for _, data in storage.events(record.id, max(after, storage.last(record.id) - _MOST_EVENTS)):
        for one in decoded(data).get("decisions", ()):
            if one is not None and one.get("group") == "shadow" and "would" in one:
                shown, agreed = shown + 1, agreed + (one["would"] == one["arm"])
    return shown, agreed


async def _step(call: Call) -> PromotionReply:
    asked = call.body
    found = call.service.book.turns(call.policy).live.rollout.state.promotion
    reached = None if found is None else found["step"]
    if asked.step not in (NEXT[reached], "evaluate", "drop") or (
        asked.step == "drop" and not found
    ):
        raise Problem(409, "wrong_step", f"the next step is {NEXT[reached]!r}, got {asked.step!r}")
    if (asked.candidate is not None) != (asked.step == "evaluate"):
        raise bad_request("candidate must be given to evaluate it, and only then")
    if bool(asked.steps) != (asked.step == "ramp"):
        raise bad_request("steps must be given to ramp, and only then")
    await _STEPS[asked.step](call, found)
    return await _show(call)


async def _evaluate(call: Call, found: Any) -> None:
    service, candidate = call.service, call.body.candidate
    turns = service.book.turns(call.policy)
    settings = await _candidate_settings(candidate, turns.live.settings)
    record = service.book.record(call.policy)
    begun = service.evaluations.start(record, settings, candidate.confidence)
    changes = msgspec.to_builtins(candidate)
    await turns.ask(
        "call",
        lambda: turns.live.rollout.change(
            "candidate", call.who, candidate=changes, evaluation=begun.id
        ),
    )


async def _candidate_settings(candidate: Candidate, live: PolicySettings) -> PolicySettings:
    try:
        return await asyncio.to_thread(candidate.settings, live)
    except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
        raise bad_request(str(error)) from error


async def _shadow(call: Call, found: Any) -> None:
    service, name = call.service, call.policy + _SUFFIX
    if call.token is not None and not call.token.sees(name):
        raise Problem(403, "forbidden", f"the token must be good for policy {name!r} too")
    record, turns = service.book.record(call.policy), service.book.turns(call.policy)
    try:
        evaluation = service.evaluations.find(record, found["evaluation"])
    except Problem:
        raise Problem(
            409, "wrong_step", "the next step is 'evaluate': the evaluation is forgotten"
        ) from None
    if evaluation.findings is None:
        raise Problem(
            409, "not_evaluated", f"the evaluation must be done, but it is {evaluation.state!r}"
        )
    changes = msgspec.convert(found["candidate"], Candidate)
    settings = await _candidate_settings(changes, turns.live.settings)
    async with service.book.changing(call.policy):  # nobody deletes a task meanwhile
        archive = await asyncio.to_thread(
            copy_of, record, service.storage, settings, service.clock(), call.who
        )
    shadow = await service.book.adopt(name, archive, call.who)
    after, verdict = shadow.live.number, evaluation.findings.verdict
    await turns.ask(
        "call",
        lambda: turns.live.rollout.change(
            "shadow", call.who, shadow=name, verdict=verdict, after=after
        ),
    )
    service.shadowing.look()


def copy_of(
    record: PolicyRecord, storage: Storage, settings: PolicySettings, now: float, by: str
) -> PolicyArchive:
    """A policy with its log, as a shadow of other settings: it holds out and watches nobody.

    Rewards that are too late are so when the policy says it.
    """
    plain = msgspec.structs.replace(
        settings, mode="shadow", control_share=0.0, sticky=False, guardrails=[],
        ratio_check="none", reward_wait=None, default_reward=None,
    )  # fmt: skip
    events = [data for _, data in storage.events(record.id)]
    versions = storage.versions(record.id)
    made = VersionRecord(len(versions) + 1, plain.to_json(), len(events), now)
    change = {"what": "copied", "by": by, "of": record.name, "until": len(events)}
    copied = encoded({"kind": CHANGE, "time": now, **change})
    return PolicyArchive(None, [*versions, made], [*events, copied], [])


async def _ramp(call: Call, found: Any) -> None:
    book, steps = call.service.book, call.body.steps
    live = book.turns(call.policy).live
    live.rollout.check_candidate(steps)
    candidate = msgspec.convert(found["candidate"], Candidate)
    settings = await _candidate_settings(candidate, live.settings)
    if settings == live.settings:
        raise Problem(409, "same_settings", "the candidate must be other than the policy is now")
    await book.put(call.policy, settings, call.who, steps)


async def _drop(call: Call, found: Any) -> None:
    turns = call.service.book.turns(call.policy)
    await turns.ask("call", lambda: turns.live.rollout.change("candidate dropped", call.who))


_STEPS = {"evaluate": _evaluate, "shadow": _shadow, "ramp": _ramp, "drop": _drop}
OPERATIONS = [
    Operation(
        "show_promotion", "GET", "/policies/{policy}/promotion", "read", _show,
        "Where a candidate stands on its way into a policy.", None, PromotionReply,
    ),
    Operation(
        "promote", "POST", "/policies/{policy}/promotion", "admin", _step,
        "Evaluate a candidate by the log, shadow it, ramp it, or drop it.",
        PromotionRequest, PromotionReply, most_bytes=16 << 20,
    ),
]  # fmt: skip
