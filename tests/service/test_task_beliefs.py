"""What a policy knows of its tasks, as replies."""

import msgspec
import numpy as np
import pytest
from support.service_lives import KINDS, Core, live_on

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.task_beliefs import population, task_belief, task_rows


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_best_arm_of_a_task_and_the_population_is_where_new_tasks_begin(
    tmp_path, kind
):
    core = Core(tmp_path / "a.db", KINDS[kind])
    live_on(core, np.random.default_rng(1), steps=20)
    agent = core.live.agent
    rows = msgspec.json.decode(msgspec.json.encode(task_rows(agent, agent.tasks)))
    for row, task in zip(rows, agent.tasks, strict=True):
        whole = task_belief(agent, task)
        assert row["decisions"] == whole["decisions"]
        if agent.prior.is_armed:
            best = max(whole["rows"], key=lambda one: one["mean"])
            assert row["mean"] == pytest.approx(best["mean"], rel=1e-12)
            assert row["arm"] == best["arm"]
            assert row["rewards"] == sum(one["rewards"] for one in whole["rows"])
        else:
            assert row["rewards"] == whole["rows"][0]["rewards"]
            assert "arm" not in row
    common = population(agent)
    assert common["tasks_looked_at"] == agent.num_tasks
    for row, known in zip(common["rows"], whole["rows"], strict=True):
        assert row["low"] < row["mean"] < row["high"]
        assert known["population_mean"] == row["mean"]
    core.storage.close()


def test_the_own_mean_is_that_of_the_rewards(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    core.live.learn(["t"] * 3, ["a", "a", "b"], [1.0, 2.0, 7.0])
    own = {row["arm"]: row["own_mean"] for row in task_belief(core.live.agent, "t")["rows"]}
    assert own == {"a": 1.5, "b": 7.0, "c": None}
    core.storage.close()
    core = Core(tmp_path / "b.db", KINDS["linear"])
    core.live.learn(["t"], [[1.0, 0.0]], [1.0])
    assert [row["own_mean"] for row in task_belief(core.live.agent, "t")["rows"]] == [None, None]
    core.live.learn(["t"], [[1.0, 2.0]], [5.0])
    own = [row["own_mean"] for row in task_belief(core.live.agent, "t")["rows"]]
    np.testing.assert_allclose(own, [1.0, 2.0])
    core.storage.close()


def test_every_level_of_a_deep_hierarchy_is_shown(tmp_path):
    widths = [np.eye(2) * 0.5 for _ in range(4)]
    prior = GaussianHierarchy.deep(hyper_mean=[0.0, 0.0], covs=widths, noise_std=0.3)
    arms = {"a": [1.0, 0.0], "b": [0.0, 1.0]}
    settings = PolicySettings(arms=arms, prior=model_to_dict(prior), draws=5)
    core = Core(tmp_path / "a.db", settings)
    for land, town, value in (("no", "Oslo", 2.0), ("no", "Bergen", 1.0), ("lv", "Riga", -1.0)):
        core.live.learn([(land, town, n) for n in range(5)], [[1.0, 0.0]] * 5, [value] * 5)
    found = population(core.live.agent)
    means = {tuple(one["group"]): one["mean"] for one in found["groups"] if one["feature"] == 0}
    assert list(means) == [("no",), ("lv",), ("no", "Oslo"), ("no", "Bergen"), ("lv", "Riga")]
    assert means["no", "Oslo"] > means["no",] > means["no", "Bergen"]
    assert means["no",] > found["rows"][0]["mean"] > means["lv",] > means["lv", "Riga"]
    assert all(one["low"] < one["mean"] < one["high"] for one in found["groups"])
    assert len(core.live.agent.groups_table(1)["group"]) == 2 * 2
    core.storage.close()
    core = Core(tmp_path / "b.db", KINDS["armed"])
    assert population(core.live.agent)["groups"] == []
    core.storage.close()
