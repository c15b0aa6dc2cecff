import asyncio

import pytest

from hierbandits.service.api_problem import Problem
from hierbandits.service.slow_bodies import SlowBodies


async def _wait(bodies, seconds):
    with bodies.watching():
        await asyncio.sleep(seconds)
    return "came"


def test_only_those_that_wait_too_long_are_cut_off():
    async def run():
        bodies = SlowBodies(patience=0.05)
        slow, quick = (asyncio.ensure_future(_wait(bodies, s)) for s in (60, 0.01))
        await asyncio.sleep(0.02)
        bodies.cut_off()  # nobody has waited that long yet
        assert await quick == "came"
        await asyncio.sleep(0.05)
        bodies.cut_off()
        with pytest.raises(Problem, match="sooner") as caught:
            await slow
        assert caught.value.status == 408
        assert not slow.cancelled()
        bodies.cut_off()  # and nobody is left

    asyncio.run(run())


def test_what_others_cancel_is_cancelled():
    async def run():
        bodies = SlowBodies(patience=0.05)
        task = asyncio.ensure_future(_wait(bodies, 60))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
