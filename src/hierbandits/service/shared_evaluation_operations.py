"""Operations that judge a candidate, as workers serve them that share a store."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hierbandits.service.evaluation_operations import candidate_settings
from hierbandits.service.evaluation_reply import EvaluationReply
from hierbandits.service.operation import Call, Handler
from hierbandits.service.policy_settings import PolicySettings

if TYPE_CHECKING:
    from hierbandits.service.shared_service import SharedService


class SharedEvaluationOperations:
    """Handlers of one worker."""

    def __init__(self, service: "SharedService") -> None:
        self._service, self._book = service, service.book

    async def start_evaluation(self, call: Call) -> EvaluationReply:
        """Judge a prior or a rule by the log of a policy, before it is used."""
        turns = await self._service.find_turns(call.policy)

        def newest() -> PolicySettings:
            turns.live.refresh()
            return turns.live.settings

        settings = await candidate_settings(call.body, await turns.ask("call", newest))
        return await self._service.evaluations.start(
            turns.live.record, settings, call.body.confidence
        )

    async def show_evaluation(self, call: Call) -> EvaluationReply:
        """An evaluation: whether it is done, and what it has found."""
        record = await asyncio.to_thread(self._book.record, call.policy)
        return await self._service.evaluations.find(record, call.part("evaluation"))


def handlers(service: "SharedService") -> Mapping[str, Handler]:
    """The handlers of a worker, by the names of operations."""
    own = SharedEvaluationOperations(service)
    return {one.__name__: one for one in (own.start_evaluation, own.show_evaluation)}
