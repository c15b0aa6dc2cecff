"""The service as a whole: one process a folder, start, stop, and what time brings."""

import asyncio

import pytest
from support.service_lives import known
from support.service_rooms import PLAIN

from hierbandits.service import service as module
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.service import FolderLock, Service
from hierbandits.service.storage import StorageDamaged
from hierbandits.service.wire import DecisionRequest


def serving(folder, scenario):
    """What a scenario gives while a service runs."""

    async def main():
        service = Service(folder, needs_tokens=False)
        await service.start()
        try:
            return await scenario(service)
        finally:
            await service.stop()

    return asyncio.run(main())


async def ask(service, kind, request, name="shop"):
    return await service.book.turns(name).ask(kind, request)


def test_a_folder_is_served_once_at_a_time(tmp_path):
    lock = FolderLock(tmp_path)
    with pytest.raises(RuntimeError, match="must not be in use"):
        FolderLock(tmp_path)
    lock.release()
    FolderLock(tmp_path).release()


def test_a_service_that_cannot_start_lets_the_folder_go(tmp_path):
    (tmp_path / "ledger.db").write_bytes(b"no database" * 1000)
    for _ in range(2):
        with pytest.raises(StorageDamaged):
            Service(tmp_path)


def test_a_stop_leaves_snapshots_and_a_start_goes_on_from_them(tmp_path):
    async def first(service):
        await service.book.put("shop", PLAIN)
        reply = await ask(service, "decide", DecisionRequest("u"))
        await ask(service, "reward", (reply.id, 2.0))
        return known(service.book.turns("shop").live.agent)

    async def second(service):
        assert service.snapshots.newest(service.book.record("shop").id, 1) == 3
        return known(service.book.turns("shop").live.agent)

    seen = serving(tmp_path, first)
    assert serving(tmp_path, second) == seen
    for path in (tmp_path / "snapshots").iterdir():
        path.unlink()
    assert serving(tmp_path, lambda service: _known(service)) == seen


async def _known(service):
    return known(service.book.turns("shop").live.agent)


def test_a_stop_leaves_no_snapshot_of_what_is_not_stored(tmp_path):
    async def scenario(service):
        await service.book.put("shop", PLAIN)
        live = service.book.turns("shop").live
        live.decide([DecisionRequest("u")])  # nobody stores it

    serving(tmp_path, scenario)
    assert not (tmp_path / "snapshots").exists()


def test_the_clockwork_expires_late_decisions_and_reads_new_tokens(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TICK", 0.001)

    async def scenario(service):
        settings = PolicySettings(arms=["a", "b"], draws=5, reward_wait=1e-6, default_reward=0.5)
        await service.book.put("shop", settings)
        await ask(service, "decide", DecisionRequest("u", id="x"))
        live = service.book.turns("shop").live
        while live.pending:
            await asyncio.sleep(0.001)
        assert live.view.decision("x")["reward"] == 0.5
        while b'hierbandits_expired_decisions_total{policy="shop"} 1.0' not in (
            service.metrics.text()
        ):
            await asyncio.sleep(0.001)

    serving(tmp_path, scenario)


def test_late_decisions_expire_in_the_version_whose_turn_it_is(tmp_path):
    async def scenario(service):
        settings = PolicySettings(arms=["a", "b"], draws=5, reward_wait=1e-6)
        await service.book.put("shop", settings)
        await ask(service, "decide", DecisionRequest("u", id="x"))
        changed = PolicySettings(arms=["a", "b"], draws=6, reward_wait=1e-6)
        await asyncio.gather(service.book.put("shop", changed), *(_later(service) for _ in "ab"))
        assert service.book.is_ready
        assert service.book.turns("shop").live.pending == 0

    async def _later(service):
        for _ in range(10):
            await service._expire()

    serving(tmp_path, scenario)


@pytest.mark.parametrize("bound", [{"_EVENTS_PER_SNAPSHOT": 5}, {"_BYTES_PER_SNAPSHOT": 600}])
def test_another_process_makes_a_snapshot_after_many_events(tmp_path, monkeypatch, bound):
    monkeypatch.setattr(module, "_TICK", 0.001)
    monkeypatch.setattr(module, "_step_back", lambda process: None)  # other tests need the cores
    for name, value in bound.items():
        monkeypatch.setattr(module, name, value)

    async def scenario(service):
        await service.book.put("shop", PLAIN)
        for _ in range(6):
            await ask(service, "decide", DecisionRequest("u"))
        record = service.book.record("shop")
        async with asyncio.timeout(100):
            while service.snapshots.newest(record.id, 1) < 3:
                await asyncio.sleep(0.01)
        assert service.snapshots.newest(record.id, 1) <= 7

    serving(tmp_path, scenario)


def test_gauges_are_filled_before_a_look(tmp_path):
    async def scenario(service):
        await service.book.put("shop", PLAIN)
        for reward in (1.0, None):
            reply = await ask(service, "decide", DecisionRequest("u"))
            if reward is not None:
                await ask(service, "reward", (reply.id, reward))
        return service.metrics.text().decode()

    text = serving(tmp_path, scenario)
    assert 'hierbandits_pending_decisions{policy="shop"} 1.0' in text
    assert "hierbandits_policies 1.0" in text
    assert 'hierbandits_log_evidence_per_event{policy="shop"}' in text
