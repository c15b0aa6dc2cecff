"""What a policy answers, and knows, when its ledger fails."""

import asyncio
from functools import partial

import pytest
from support.service_desk import Desk
from support.virtual_loop import run

from hierbandits.service.api_problem import Problem
from hierbandits.service.storage import StorageFailed
from hierbandits.service.wire import DecisionRequest


def test_the_clock_of_the_service_is_the_clock_of_its_policies(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create(reward_wait=60.0)
        await desk.decide("early")
        desk.now += 59
        assert await desk.call("expire") == 0
        desk.now += 2
        assert await desk.call("expire") == 1
        assert desk.live.view.decision("early")["time"] == 1_000_000.0

    run(life())


def test_a_change_that_is_not_stored_is_not_acknowledged(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create()
        desk.storage.writes, desk.storage.after = 1.0, 0.0
        with pytest.raises(Problem, match="not stored") as caught:
            await desk.call("add_arm", "d")
        assert caught.value.status == 503
        desk.storage.writes = 0.0
        await desk.ready()
        assert desk.live.agent.arms == ("a", "b", "c")

    run(life())


def test_a_reward_whose_decision_cannot_be_looked_up_leaves_nothing_behind(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create()
        await desk.decide("one", "two")
        desk.storage.reads = 1.0
        with pytest.raises(StorageFailed):
            await desk.call("reward", [("one", 1.0), ("two", 2.0)])
        desk.storage.reads = 0.0
        await desk.ready()
        assert desk.live.view.decision("one")["reward"] is None
        assert [one.status for one in desk.live.reward([("one", 3.0)])] == ["learned"]

    run(life())


def test_nothing_is_done_by_a_policy_that_the_call_before_has_torn(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create(reward_wait=60.0, default_reward=0.0)
        await desk.decide("one", "two")
        desk.storage.reads = 1.0
        answers = await asyncio.gather(
            desk.call("reward", [("one", 1.0)]), desk.call("expire"), return_exceptions=True
        )
        assert [type(one) for one in answers] == [StorageFailed, Problem]
        desk.storage.reads = 0.0
        await desk.ready()
        assert desk.live.number == 2
        assert desk.live.view.decision("one")["reward"] is None

    run(life())


def test_a_policy_is_loaded_again_with_what_was_on_its_way_to_the_ledger(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create()
        await desk.decide("one")
        desk.storage.find_ids = _fail
        answers = await asyncio.gather(
            desk.turns.ask("decide", DecisionRequest("a-task")),
            desk.call("reward", [("one", 1.0)]),
            return_exceptions=True,
        )
        assert isinstance(answers[1], StorageFailed)
        del desk.storage.find_ids
        await desk.ready()
        assert desk.live.number == 3
        assert [one.status for one in desk.live.reward([(answers[0].id, 1.0)])] == ["learned"]

    run(life())


def test_while_nothing_can_be_written_decisions_are_read_and_policies_go_on_by_themselves(tmp_path):
    async def life():
        desk = await Desk(tmp_path).create()
        await desk.decide("one")
        desk.storage.writes, desk.storage.after = 1.0, 0.0
        failed = [desk.decide("two"), desk.call("reward", [("one", 1.0)])]
        answers = await asyncio.gather(*failed, return_exceptions=True)
        assert [one.status for one in answers] == [503, 503]
        for _ in range(50):
            await asyncio.sleep(0.1)
            view = desk.live.view
            one = await desk.turns.ask("look", partial(view.decision, "one"))
            two = await desk.turns.ask("look", partial(view.decision, "two"))
            assert one["reward"] is None
            assert two is None
            assert not desk.book.is_ready
            with pytest.raises(Problem):
                await desk.decide("two")
        assert desk.storage.faults < 10  # it is tried once a second, not for each request
        desk.storage.writes = 0.0
        await desk.ready()
        assert [one.status for one in await desk.call("reward", [("one", 1.0)])] == ["learned"]

    run(life())


def _fail(*given):
    raise StorageFailed("injected")
