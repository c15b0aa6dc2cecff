"""One evaluation in a process of its own: what it answers, in time."""

import asyncio
import logging
import shutil
from pathlib import Path

import msgspec

from hierbandits.service.api_problem import Problem
from hierbandits.service.child_process import ChildProcess
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_process import Order
from hierbandits.service.evaluation_reply import Answer
from hierbandits.service.json_log import say


async def evaluation_answer(order: Order, place: DataPlace, patience: float) -> Answer:
    """What a process answers to an order within `patience` seconds; a Problem if nothing."""
    try:
        async with asyncio.timeout(patience):
            return await _answer(order, place)
    except TimeoutError:
        detail = f"an evaluation must take at most {patience:g} seconds"
        raise Problem(504, "too_slow", detail) from None
    except Exception as error:
        say("an evaluation failed", logging.ERROR, policy=order.policy, error=str(error))
        raise Problem(500, "internal", "an error of the service, which is in its log") from error
    finally:
        shutil.rmtree(order.scratch, ignore_errors=True)


async def _answer(order: Order, place: DataPlace) -> Answer:
    """What a process of its own answers; it is killed if nobody waits any more.

    Its standard input stays open: when this process ends, however it does, that one ends too.
    """
    Path(order.scratch).mkdir(parents=True)
    process = await ChildProcess.start(
        "hierbandits.service.evaluation_process", env=place.environment(),
        is_asked=True, keeps_errors=True,
    )  # fmt: skip
    try:
        await process.send(msgspec.json.encode(order) + b"\n")
        told, errors = await asyncio.gather(process.told.read(), process.errors.read())
        if await process.wait() != 0:
            raise RuntimeError(errors.decode(errors="replace")[-2000:])
    finally:
        await process.end()
    return msgspec.json.decode(told, type=Answer)
