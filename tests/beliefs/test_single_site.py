"""The site of one reward, in a belief that keeps no rewards."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.shared_stores import ARMED, FAMILIES

import hierbandits as hb
from hierbandits.beliefs.single_site import NO_SITE, Site, match_site

EVENTS = {True: [(0, 2), (1, 0), (0, 2)], False: [(0, [1.0, 0.5]), (1, [-0.3, 1.2]), (0, [0.7, 1])]}


def same(one, two):
    for node in range(one.num_nodes):
        assert_allclose(one.task(node).mean, two.task(node).mean, rtol=0, atol=1e-12)
        assert_allclose(one.task(node).cov, two.task(node).cov, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", FAMILIES)
def test_rewards_are_learned_as_by_a_belief_that_keeps_them(kind):
    model = FAMILIES[kind]
    plain, whole = hb.MatchedBelief(model, 2), hb.MatchedBelief(model, 2)
    for number, (task, features) in enumerate(EVENTS[model.is_armed]):
        whole.observe([task], [features], [number % 2])
        site = match_site(plain, task, features, number % 2, 1.0, NO_SITE)
        assert site.precision > 0
    same(plain, whole)
    assert plain.num_rewards.sum() == 0


def test_a_site_is_taken_out_before_another_takes_its_place():
    model = FAMILIES["clicks by features"]
    belief, whole = hb.MatchedBelief(model, 2), hb.MatchedBelief(model, 2)
    sites = []
    for task, features in EVENTS[False]:
        whole.observe([task], [features], [1.0])
        sites.append(match_site(belief, task, features, 1.0, 1.0, NO_SITE))
    task, features = EVENTS[False][0]
    whole.revise(task, features, 1.0, 0.0)
    after = match_site(belief, task, features, 0.0, 1.0, sites[0])
    same(belief, whole)
    assert after.weighted < 0 < sites[0].weighted


def test_sums_of_clicks_have_the_site_of_a_binomial_reward():
    one = hb.MatchedBelief(FAMILIES["clicks"], 1)
    whole = hb.MatchedBelief(hb.GeneralizedHierarchy(ARMED, "binomial"), 1)
    site, total = NO_SITE, 0.0
    for number, click in enumerate([0.0, 1.0, 0.0, 0.0, 1.0]):
        total += click
        site = match_site(one, 0, 1, total, number + 1.0, site)
    whole.observe([0], [1], [total], exposure=[5.0])
    same(one, whole)


def test_sites_add_up():
    both = Site(1.0, 2.0).plus(Site(0.5, -1.0))
    assert both == (1.5, 1.0)
    assert both.plus(Site(0.5, -1.0), -1.0) == (1.0, 2.0)
    assert np.array(NO_SITE).tolist() == [0.0, 0.0]
