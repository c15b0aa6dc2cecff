"""Evaluations of candidates that run, each in a process of its own, or ran lately."""

import asyncio
import logging
import secrets
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from hierbandits.atomic_write import atomic_write
from hierbandits.service.api_problem import Problem, not_found
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_process import Order
from hierbandits.service.evaluation_reply import EvaluationReply
from hierbandits.service.evaluation_run import evaluation_answer
from hierbandits.service.json_log import say
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.storage import PolicyRecord
from hierbandits.service.wire import ProblemPart

AT_ONCE = 2
"""Evaluations that may run at the same time."""
PATIENCE = 600.0
"""Seconds after which an evaluation is stopped."""
KEPT = 20
"""Evaluations of a policy that are remembered."""


STOPPED = Problem(503, "stopped", "a task was deleted meanwhile, or the service stopped")
INTERRUPTED = Problem(503, "interrupted", "the service ended before the evaluation did")
_Kept = dict[int, list[EvaluationReply]]  # by policy, the oldest first


@dataclass(slots=True)
class _Job:
    reply: EvaluationReply
    task: asyncio.Task[None] | None = None


class Evaluations:
    """Starts evaluations on a data folder, remembers what they found, and ends them in time.

    What is known of them is kept in a file, and survives the service.
    """

    def __init__(
        self,
        place: DataPlace,
        clock: Callable[[], float] = time.time,
        *,
        at_once: int = AT_ONCE,
        patience: float = PATIENCE,
    ) -> None:
        self._place, self._scratch = place, place.folder / "evaluations"
        self._clock, self._at_once, self._patience = clock, at_once, patience
        shutil.rmtree(self._scratch, ignore_errors=True)  # what a crash has left
        self._file = place.folder / "evaluations.json"
        self._jobs = self._kept()  # by policy and id, the oldest first

    def _kept(self) -> dict[int, dict[str, _Job]]:
        """What is known from before; one that ran when the service ended was interrupted."""
        try:
            data = msgspec.json.decode(self._file.read_bytes(), type=_Kept)
        except (OSError, ValueError):  # it is not there, or damaged: nobody needs it to decide
            return {}
        for reply in [reply for replies in data.values() for reply in replies]:
            if reply.state == "running":
                reply.problem, reply.state = ProblemPart(**INTERRUPTED.to_dict()), "stopped"
        return {
            policy: {reply.id: _Job(reply) for reply in replies} for policy, replies in data.items()
        }

    def _keep(self) -> None:
        """Write down what is known, so that it survives the service."""
        data = {policy: [job.reply for job in jobs.values()] for policy, jobs in self._jobs.items()}
        try:
            with atomic_write(self._file) as file:
                file.write(msgspec.json.encode(data))
        except OSError as error:
            say("evaluations are not kept", logging.WARNING, error=repr(error))

    def start(
        self, record: PolicyRecord, settings: PolicySettings, confidence: float
    ) -> EvaluationReply:
        """Begin to judge settings by the log of a policy; a Problem if too many run."""
        if len(self._running()) >= self._at_once:
            raise too_many(self._at_once)
        id = secrets.token_hex(8)
        job = _Job(EvaluationReply(id, record.name, "running", self._clock(), 0.0))
        jobs = self._jobs.setdefault(record.id, {})
        jobs[id] = job
        for old in [one for one, kept in jobs.items() if kept.reply.state != "running"]:
            if len(jobs) > KEPT:
                del jobs[old]
        scratch = self._scratch / id
        folder = str(self._place.folder)
        order = Order(folder, record.name, settings, confidence, str(scratch))
        job.task = asyncio.ensure_future(self._run(job.reply, order))
        self._keep()
        return job.reply

    def find(self, record: PolicyRecord, id: str) -> EvaluationReply:
        """An evaluation of a policy, as it stands."""
        job = self._jobs.get(record.id, {}).get(id)
        if job is None:
            raise not_found("evaluation", id)
        if job.reply.state == "running":
            job.reply.seconds = self._clock() - job.reply.started
        return job.reply

    async def stop(self, policy: int | None = None) -> None:
        """End the evaluations of a policy, or all of them, and their processes."""
        jobs = self._running() if policy is None else [*self._jobs.get(policy, {}).values()]
        tasks = [job.task for job in jobs if job.task is not None and not job.task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for job in jobs:
            if job.reply.state == "running":  # its task was cancelled before it began
                self._end(job.reply, STOPPED)

    async def forget(self, policy: int) -> None:
        """A policy is deleted: what was found of it is, too."""
        await self.stop(policy)
        self._jobs.pop(policy, None)
        self._keep()

    def _running(self) -> list[_Job]:
        every = [job for jobs in self._jobs.values() for job in jobs.values()]
        return [job for job in every if job.reply.state == "running"]

    async def _run(self, reply: EvaluationReply, order: Order) -> None:
        """Let a process do it, and keep what it says."""
        problem: Problem | None = None
        try:
            answer = await evaluation_answer(order, self._place, self._patience)
            reply.findings, reply.problem = answer.findings, answer.problem
            reply.state = "done" if answer.problem is None else "refused"
        except Problem as error:
            problem = error
        except asyncio.CancelledError:
            problem = STOPPED
            raise
        finally:
            self._end(reply, problem)

    def _end(self, reply: EvaluationReply, problem: Problem | None) -> None:
        """An evaluation runs no more; a problem says why it has no answer."""
        reply.seconds = self._clock() - reply.started
        if problem is not None:
            reply.problem, reply.state = ProblemPart(**problem.to_dict()), "stopped"
        self._keep()


def too_many(at_once: int) -> Problem:
    """What is told of one more evaluation."""
    detail = f"evaluations that run must be at most {at_once}: try again later"
    return Problem(429, "too_many_evaluations", detail, retry_after=10.0)
