"""The log of workers that share a policy judges as that of one process does."""

import pytest
from support.logged_worlds import LoggedWorld
from support.shared_archives import share

from hierbandits.service.api_problem import Problem
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_process import judged
from hierbandits.service.judged_log import log_of_one, log_of_workers


def test_both_logs_have_the_same_decisions_and_arms_and_judge_alike(
    tmp_path, store_url, monkeypatch
):
    world = LoggedWorld(tmp_path / "data", rounds=20)
    world.core.live.add_arm("new", "ann")
    world.core.live.retire_arm("z", "ann")
    world.core.decide("t0", arms=["new"], best=True)
    world.core.store()
    share(world.folder, store_url)
    here, there = DataPlace(world.folder), DataPlace(tmp_path, store_url)
    with log_of_one(here, "shop") as one, log_of_workers(there, "shop") as two:
        rows = [
            {
                each.parts["id"]: (each.parts["arm"], each.version, each.best, each.reward)
                for each in log.decisions
            }
            for log in (one, two)
        ]
        assert rows[0] == rows[1]
        assert len(rows[0]) == 401
        assert (
            [arm.name for arm in one.added_arms] == [arm.name for arm in two.added_arms] == ["new"]
        )
        assert (one.until, two.until) == (world.core.live.number, None)
    order = world.order(tmp_path / "a", rule="HierGreedy", floor=0.0)
    alone = judged(order)
    monkeypatch.setenv("HIERBANDITS_STORE", store_url)
    order.shared, order.scratch = True, str(tmp_path)
    shared = judged(order)
    assert (shared.rows, shared.rows_of_training) == (alone.rows, alone.rows_of_training)
    assert shared.until_event == 401
    for mine, its in zip(shared.policies, alone.policies, strict=True):
        assert mine.policy == its.policy
        assert mine.reward.value == pytest.approx(its.reward.value, abs=0.05)
    assert shared.better_than_log == alone.better_than_log
    for log, place in ((log_of_one, here), (log_of_workers, there)):
        with pytest.raises(Problem, match="policy 'none' is not known"), log(place, "none"):
            pass
    world.close()
