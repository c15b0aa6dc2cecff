import asyncio
import time

import pytest

from hierbandits.service.demo_shop import (
    CONTROL,
    NAME,
    PAST,
    DemoClock,
    DemoShop,
    claim_folder,
)
from hierbandits.service.service import Service


async def visited(folder, rounds, monkeypatch):
    """A service after so many rounds of the shop's past, and one of the present."""
    clock = DemoClock()
    service = Service(folder, needs_tokens=False, clock=clock)
    await service.start()
    clock.now = time.time() - rounds * 300.0 - 10.0
    shop = asyncio.ensure_future(DemoShop(service, clock).run())
    while clock.now is not None:
        await asyncio.sleep(0.01)
    shop.cancel()
    await asyncio.gather(shop, return_exceptions=True)
    await service.stop()
    return service, clock


def test_the_shop_fills_a_service_with_a_past(tmp_path, monkeypatch):
    service, clock = asyncio.run(visited(tmp_path / "data", 12, monkeypatch))
    live = service.book.turns(NAME).live
    assert live.agent.num_tasks > 20
    assert live.agent.belief.num_rewards.sum() > 100
    assert live.settings.control_arm == CONTROL
    assert "simulated" in live.settings.description
    assert clock() == pytest.approx(time.time(), abs=5.0)
    assert DemoClock()() == pytest.approx(time.time() - PAST, abs=5.0)


def test_a_folder_of_others_is_refused(tmp_path):
    claim_folder(tmp_path / "new")
    claim_folder(tmp_path / "new")  # its own, again
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "ledger.db").touch()
    with pytest.raises(ValueError, match="must be a new folder"):
        claim_folder(tmp_path / "full")
