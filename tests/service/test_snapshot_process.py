"""A snapshot that another process makes while this one goes on."""

import subprocess
import sys

import numpy as np
from support.service_lives import KINDS, Core, known, live_on

from hierbandits.service.snapshots import Snapshots


def test_it_makes_a_snapshot_from_which_the_agent_goes_on(tmp_path):
    core = Core(tmp_path / "ledger.db", KINDS["armed"])
    live_on(core, np.random.default_rng(1), steps=20)
    words = ["-m", "hierbandits.service.snapshot_process", str(tmp_path), "shop"]
    subprocess.run([sys.executable, *words], check=True, timeout=120)
    snapshots = Snapshots(tmp_path / "snapshots")
    assert snapshots.newest(core.record.id, 1) == core.live.number
    core.decide("u")
    core.store()
    agent = snapshots.load(
        core.record, 1, core.live.settings, core.storage, lambda event: None,
        until=core.live.number,
    )  # fmt: skip
    assert known(agent) == known(core.live.agent)
    core.storage.close()
