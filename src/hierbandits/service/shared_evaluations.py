"""Evaluations of shared policies: one worker runs one, and any worker tells what it found."""

import asyncio
import logging
import secrets
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import psycopg

from hierbandits.service.api_problem import Problem, not_found
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_process import Order
from hierbandits.service.evaluation_reply import Answer, EvaluationReply
from hierbandits.service.evaluation_run import evaluation_answer
from hierbandits.service.evaluations import (
    AT_ONCE,
    INTERRUPTED,
    KEPT,
    PATIENCE,
    STOPPED,
    too_many,
)
from hierbandits.service.json_log import say
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.storage import PolicyRecord, StorageFailed
from hierbandits.service.wire import ProblemPart

SILENCE = 10.0
"""Seconds after which a worker of which nothing is heard is taken for dead."""
_SIGN = 1.0  # seconds between two signs of life of an evaluation
_NOW = "extract(epoch FROM clock_timestamp())"
# Whoever deletes the policy waits for this, and then deletes it.
_BEGIN = (
    "WITH known AS (SELECT id FROM shared_policies WHERE id = %s FOR SHARE) "
    "INSERT INTO shared_evaluations (policy, id, reply, is_running, started) "
    "SELECT known.id, %s, %s, true, %s FROM known"
)
_TRIM = (
    "DELETE FROM shared_evaluations WHERE policy = %(policy)s AND NOT is_running AND id IN "
    "(SELECT id FROM shared_evaluations WHERE policy = %(policy)s "
    "ORDER BY started DESC, id OFFSET %(kept)s)"
)
_LIVE = (
    f"UPDATE shared_evaluations SET heard = {_NOW} "
    "WHERE policy = %s AND id = %s AND is_running RETURNING id"
)
_FIND = (
    f"SELECT reply, is_running, {_NOW} - heard > %s FROM shared_evaluations "
    "WHERE policy = %s AND id = %s FOR UPDATE"
)
_END = (
    "UPDATE shared_evaluations SET reply = %s, is_running = false "
    "WHERE policy = %s AND id = %s AND is_running"
)
_RUNNING = "SELECT id, reply FROM shared_evaluations WHERE policy = %s AND is_running ORDER BY id"


class SharedEvaluations:
    """Runs evaluations of this worker, and knows those of all.

    What is known of them is in the store.  Whoever runs one gives a sign of life each second; it
    hears by that if another worker has stopped it.  One of which nothing is heard is interrupted.
    """

    def __init__(
        self,
        links: SharedLinks,
        place: DataPlace,
        clock: Callable[[], float] = time.time,
        *,
        at_once: int = AT_ONCE,
        patience: float = PATIENCE,
    ) -> None:
        self._links, self._place, self._scratch = links, place, place.folder / "evaluations"
        self._clock, self._at_once, self._patience = clock, at_once, patience
        shutil.rmtree(self._scratch, ignore_errors=True)  # what a crash has left
        self._mine: dict[str, asyncio.Task[None] | None] = {}  # that run here, by id

    async def start(
        self, record: PolicyRecord, settings: PolicySettings, confidence: float
    ) -> EvaluationReply:
        """Begin to judge settings by the log of a policy; a Problem if too many run here."""
        if len(self._mine) >= self._at_once:
            raise too_many(self._at_once)
        id = secrets.token_hex(8)
        reply = EvaluationReply(id, record.name, "running", self._clock(), 0.0)
        self._mine[id] = None  # from now on it counts
        try:
            await asyncio.to_thread(self._begin, record, reply)
            scratch = str(self._scratch / id)
            folder = str(self._place.folder)
            order = Order(folder, record.name, settings, confidence, scratch, shared=True)
            self._mine[id] = asyncio.ensure_future(self._run(record.id, reply, order))
        except BaseException:
            del self._mine[id]
            raise
        return reply

    def _begin(self, record: PolicyRecord, reply: EvaluationReply) -> None:
        row = record.id, reply.id, msgspec.json.encode(reply), reply.started
        with self._links.transaction() as db:
            if not db.execute(_BEGIN, row).rowcount:
                raise not_found("policy", record.name)
            db.execute(_TRIM, {"policy": record.id, "kept": KEPT})

    async def find(self, record: PolicyRecord, id: str) -> EvaluationReply:
        """An evaluation of a policy, as it stands."""
        return await asyncio.to_thread(self._found, record.id, id)

    def _found(self, policy: int, id: str) -> EvaluationReply:
        with self._links.transaction() as db:
            row = db.execute(_FIND, (SILENCE, policy, id), binary=True).fetchone()
            if row is None:
                raise not_found("evaluation", id)
            reply = msgspec.json.decode(row[0], type=EvaluationReply)
            if row[1]:
                reply.seconds = max(0.0, self._clock() - reply.started)
            if row[1] and row[2]:
                self._end(db, policy, reply, INTERRUPTED)
        return reply

    async def stop(self, policy: str) -> None:
        """Let all evaluations of a policy end, whichever workers run them."""
        await asyncio.to_thread(self._stop, policy)

    def _stop(self, name: str) -> None:
        with self._links.transaction() as db:
            row = db.execute("SELECT id FROM shared_policies WHERE name = %s", (name,)).fetchone()
            if row is not None:
                for _, data in db.execute(_RUNNING, row, binary=True).fetchall():
                    reply = msgspec.json.decode(data, type=EvaluationReply)
                    reply.seconds = max(0.0, self._clock() - reply.started)
                    self._end(db, row[0], reply, STOPPED)

    async def close(self) -> None:
        """End those that run here."""
        tasks = [task for task in self._mine.values() if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, policy: int, reply: EvaluationReply, order: Order) -> None:
        """Let a process do it, and keep what it says, unless somebody has stopped it."""
        judging = asyncio.ensure_future(evaluation_answer(order, self._place, self._patience))
        try:
            while not (await asyncio.wait({judging}, timeout=_SIGN))[0]:
                if not await asyncio.to_thread(self._is_wanted, policy, reply.id):
                    return
            answer, problem = judging.result(), None
        except Problem as error:
            answer, problem = Answer(), error
        except asyncio.CancelledError:
            answer, problem = Answer(), STOPPED
        finally:
            judging.cancel()
            with suppress(asyncio.CancelledError, Problem):
                await judging
            del self._mine[reply.id]
        reply.seconds = self._clock() - reply.started
        reply.findings, reply.problem = answer.findings, answer.problem
        reply.state = "done" if answer.problem is None else "refused"
        await asyncio.to_thread(self._keep, policy, reply, problem)

    def _is_wanted(self, policy: int, id: str) -> bool:
        """Give a sign of life; whether nobody has stopped the evaluation."""
        try:
            with self._links.transaction() as db:
                return db.execute(_LIVE, (policy, id)).fetchone() is not None
        except StorageFailed as error:  # it is given up by others if that goes on
            say("an evaluation gives no sign of life", logging.WARNING, error=str(error))
            return True

    def _keep(self, policy: int, reply: EvaluationReply, problem: Problem | None) -> None:
        try:
            with self._links.transaction() as db:
                self._end(db, policy, reply, problem)
        except StorageFailed as error:
            say("an evaluation is not kept", logging.WARNING, error=str(error))

    def _end(
        self,
        db: psycopg.Connection[Any],
        policy: int,
        reply: EvaluationReply,
        problem: Problem | None,
    ) -> None:
        """An evaluation runs no more, unless it has ended before."""
        if problem is not None:
            reply.problem, reply.state = ProblemPart(**problem.to_dict()), "stopped"
        db.execute(_END, (msgspec.json.encode(reply), policy, reply.id))
