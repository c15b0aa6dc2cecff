"""The price of exploring, against the posterior means."""

import numpy as np
import pytest
from support.service_lives import KINDS, Core, live_on, task_of

from hierbandits.service.wire import DecisionRequest


@pytest.mark.parametrize("kind", KINDS)
def test_a_gap_is_the_distance_from_the_highest_mean(tmp_path, kind):
    settings = KINDS[kind]
    core = Core(tmp_path / "a.db", settings)
    live_on(core, np.random.default_rng(2), steps=25)
    requests = [DecisionRequest(task_of(settings, n)) for n in range(4)]
    requests.append(DecisionRequest(task_of(settings, 1), ["a", "b"]))
    agent = core.live.agent
    for reply, request in zip(core.live.decide(requests), requests, strict=True):
        offered = request.arms or list(settings.arms)
        task = tuple(request.task) if isinstance(request.task, list) else request.task
        rows = range(len(settings.arms)) if agent.prior.is_armed else settings.arms.values()
        table = np.array(list(rows))
        nodes = np.full(len(table), agent.node(task))
        means = dict(zip(settings.arms, agent.belief.mean_reward(nodes, table).mean, strict=True))
        best = max(means[arm] for arm in offered)
        assert reply.gap == pytest.approx(best - means[reply.arm], abs=1e-12)
        assert reply.gap >= 0.0
    core.storage.close()


def test_an_arm_that_is_added_counts_at_once(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    core.decide("u")
    core.live.add_arm("great", hyper_mean=50.0)
    assert core.decide("u", ["a", "great"], best=True).gap == 0.0
    assert core.decide("u", ["a"]).gap == 0.0
    worst = [core.decide("u") for _ in range(30)]
    assert all((reply.gap > 10) == (reply.arm != "great") for reply in worst)
    core.live.retire_arm("great")
    assert core.decide("u").gap < 10
    core.storage.close()
