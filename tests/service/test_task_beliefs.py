"""What a policy knows of its tasks, as replies."""

import msgspec
import numpy as np
import pytest
from support.service_lives import KINDS, Core, live_on

from hierbandits.service.task_beliefs import task_belief, task_list


@pytest.mark.parametrize("kind", KINDS)
def test_every_task_can_be_shown(tmp_path, kind):
    core = Core(tmp_path / "a.db", KINDS[kind])
    live_on(core, np.random.default_rng(1), steps=20)
    for task in core.live.agent.tasks:
        shown = msgspec.json.decode(msgspec.json.encode(task_belief(core.live.agent, task)))
        assert shown["task"] == (list(task) if isinstance(task, tuple) else task)
        names = core.live.agent.arms if core.live.agent.prior.is_armed else range(2)
        assert len(shown["rows"]) == len(names)
        for row in shown["rows"]:
            assert row["low"] < row["mean"] < row["high"]
            assert row["within_var"] >= 0
            assert row["shared_var"] >= 0
    core.storage.close()


def test_tasks_page_by_page(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    for task in ["user 1", "user 2", "shop", 12]:
        core.decide(task)
    agent = core.live.agent
    assert task_list(agent, "user", 10, 0) == {"total": 2, "tasks": ["user 1", "user 2"]}
    assert task_list(agent, "", 2, 1) == {"total": 4, "tasks": ["user 2", "shop"]}
    assert task_list(agent, "12", 5, 0)["tasks"] == [12]
    assert task_list(agent, "", 5, 9) == {"total": 4, "tasks": []}
    core.storage.close()
