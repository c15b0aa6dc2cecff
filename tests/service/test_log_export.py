"""The log of a policy, as `learn` and `evaluate` read it."""

import numpy as np
import polars as pl
import pytest
from support.service_lives import KINDS, Core, live_on

from hierbandits import Columns, Log
from hierbandits.service import log_export
from hierbandits.service.log_export import write_log
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.task_erasure import TaskErasure

COLUMNS = Columns(
    task="task", arm="arm", reward="reward", propensity="propensity", decision="decision",
    eligible="eligible", time="time",
)  # fmt: skip

PLAIN = [0, 1, 3, 4, 5, 6]  # without the task "1", beside 1


def exported(core, path, **options):
    count = write_log(core.record, core.storage, path, **options)
    frame = pl.read_parquet(path)
    assert len(frame) == count
    assert [one.name for one in path.parent.iterdir() if one.name.endswith(".parts")] == []
    return frame


@pytest.mark.parametrize("rows", [3, 50_000])
def test_every_rewarded_decision_is_a_row_that_a_log_takes(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(log_export, "_ROWS", rows)
    core = Core(tmp_path / "a.db", KINDS["armed"])
    waiting, settled = live_on(core, np.random.default_rng(1), steps=80, tasks=PLAIN)
    frame = exported(core, tmp_path / "x.parquet")
    assert sorted(frame["decision"]) == sorted(settled)
    for row in frame.iter_rows(named=True):
        stored = core.live.view.decision(row["decision"])
        assert row["reward"] == stored["reward"]
        assert (row["propensity"], row["gap"]) == (stored["propensity"], stored["gap"])
        assert (row["arm"], row["eligible"]) == (stored["arm"], stored["offered"])
        assert row["task"] == (
            stored["task"] if isinstance(stored["task"], str) else str(stored["task"])
        )
    log = Log.read(tmp_path / "x.parquet", COLUMNS)
    assert log.sums().sums.n.sum() == len(settled)
    everything = exported(core, tmp_path / "y.parquet", every=True)
    assert set(everything["decision"]) == {*waiting, *settled}
    assert everything["reward"].null_count() == len(waiting)
    core.storage.close()


def test_arms_with_features_have_them_in_a_column(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["linear"])
    live_on(core, np.random.default_rng(1), steps=60, tasks=PLAIN)
    frame = exported(core, tmp_path / "x.parquet")
    settings = core.live.settings
    assert frame["features"].to_list() == [settings.arms[arm] for arm in frame["arm"]]
    columns = Columns(task="task", features="features", reward="reward", decision="decision")
    log = Log.read(tmp_path / "x.parquet", columns)
    assert log.sums().sums.n.sum() == len(frame)
    core.storage.close()


def test_groups_versions_defaults_and_late_rewards(tmp_path):
    settings = PolicySettings(
        arms=["a", 7], draws=5, mode="shadow", reward_wait=1e-6, default_reward=0.25
    )
    core = Core(tmp_path / "a.db", settings)
    for id in "xyz":
        core.decide(3, id=id, played=7)
    core.reward("y", 1.0)
    core.live.expire()
    core.reward("z", 2.0)
    core.store()
    frame = exported(core, tmp_path / "x.parquet")
    rows = {row["decision"]: row for row in frame.iter_rows(named=True)}
    assert {id: rows[id]["reward"] for id in "xyz"} == {"x": 0.25, "y": 1.0, "z": 2.0}
    assert {id: rows[id]["provisional"] for id in "xyz"} == {"x": True, "y": False, "z": False}
    assert rows["x"]["propensity"] is None  # the caller chose
    assert (rows["x"]["group"], rows["x"]["task"], rows["x"]["arm"]) == ("shadow", "3", "7")
    assert rows["x"]["would"] in ("a", "7")
    assert rows["x"]["version"] == 1
    core.storage.close()


def test_a_log_without_rewards_has_columns_and_no_rows(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    assert exported(core, tmp_path / "x.parquet").columns[:4] == [
        "task",
        "arm",
        "features",
        "reward",
    ]
    core.storage.close()


def test_a_deleted_task_is_not_in_it(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    for task in ("me", "you"):
        core.reward(core.decide(task).id, 1.0)
    until = core.live.forget("me")
    core.store()
    core.storage.rewrite(core.record.id, TaskErasure("me", until))
    assert exported(core, tmp_path / "x.parquet", every=True)["task"].to_list() == ["you"]
    core.storage.close()


def test_names_that_are_the_same_as_text_are_refused(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    for task in (1, "1"):
        core.reward(core.decide(task).id, 1.0)
    core.store()
    with pytest.raises(ValueError, match="names must differ as text in a log"):
        exported(core, tmp_path / "x.parquet")
    assert [path.name for path in tmp_path.iterdir() if "parquet" in path.name] == []
    core.storage.close()
