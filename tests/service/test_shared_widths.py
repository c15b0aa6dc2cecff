"""Which widths workers believe in: those of one process that learns the same rewards."""

from dataclasses import replace

import numpy as np
import pytest
from support.open_clicks import OpenClicks, farthest
from support.shared_stores import FAMILIES, OF_FAMILIES, SETTINGS, UNKNOWN, books

from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_model import shared_model
from hierbandits.service.shared_widths import SharedWidths


def test_before_any_reward_widths_are_those_of_the_model():
    def first(settings):
        return SharedWidths(0, shared_model(settings)).first()

    assert first(SETTINGS["armed"])[1] is None
    assert first(PolicySettings(arms=["a", "b"]))[1] == 1
    hierarchy, due = first(OF_FAMILIES["clicks"])
    assert (hierarchy.to_dict(), due) == (FAMILIES["clicks"].hierarchy.to_dict(), None)
    for settings in UNKNOWN.values():
        hierarchy, due = first(settings)
        assert due == 20
        assert hierarchy.hyper_cov[0, 0] == 4.0


@pytest.mark.parametrize(("arms", "most"), [(16, 20_000), (64, 1250), (65, 20_000)])
def test_the_more_arms_depend_on_each_other_the_fewer_rewards_are_matched_again(arms, most):
    names = [f"a{i}" for i in range(arms)]
    widths = SharedWidths(0, shared_model(PolicySettings(arms=names, rewards="bernoulli")))
    hierarchy, due = widths.first()
    nothing = AbsentTasks.of(hierarchy).nothing()
    now = SharedGeneration(1, 1, hierarchy, nothing, 10, due, 0)
    assert widths.needs_refit(now, replace(now, rewards=most, due=99))
    assert not widths.needs_refit(now, replace(now, rewards=most + 1, due=99))
    assert not widths.needs_refit(now, replace(now, rewards=most))  # nobody has looked
    stated = SharedWidths(0, shared_model(OF_FAMILIES["clicks"]))
    assert not stated.needs_refit(now, replace(now, due=99))


@pytest.mark.parametrize("kind", UNKNOWN)
def test_workers_know_what_an_agent_alone_does(store_url, kind):
    """They look at the same rewards, so widths are the same; sites match anew with each look."""
    with books(store_url, 2) as both:
        play, found = OpenClicks(kind, both), set()
        for number in range(10):
            play.go_on(4)
            hierarchy, alone = play.generation.hierarchy, play.agent.belief.hierarchy()
            assert play.generation.due == max(20, np.ceil(play.agent.belief.look_due))
            found.add(hierarchy.task_cov[0, 0])
            np.testing.assert_allclose(hierarchy.hyper_mean, alone.hyper_mean, rtol=0, atol=1e-9)
            for one, two in zip(hierarchy.covs, alone.covs, strict=True):
                np.testing.assert_allclose(one, two, rtol=0.02, atol=0.002)
            mean, width = farthest(play.known(), play.known_to(play.agent))
            assert number == 0 or mean < 0.03
            assert number == 0 or width < 0.05
        assert len(found) == 5  # before any look, and after those at 32, 48, 72 and 108
        (health,) = check_shared(store_url)
        assert (health.rewards, health.faults) == (160, [])
