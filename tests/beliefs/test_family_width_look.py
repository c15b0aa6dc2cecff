"""Widths of linear predictors that rewards support."""

import numpy as np
import pytest
from support.click_logs import click_log

import hierbandits as hb
from hierbandits.beliefs.family_width_look import FamilyWidthLook, link_of_mean, widths_in
from hierbandits.fitting.family_fit import fit_family_prior
from hierbandits.models import FAMILIES
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths

BEFORE = (0.5, 2.0, 0.5)


def _look(log):
    model = UnknownFamilyWidths(hb.UnknownWidths.of(3, armed=log.armed), log.family)
    belief = hb.MatchedBelief(
        hb.GeneralizedHierarchy(model.hierarchy(), log.family), len(log.theta)
    )
    belief.observe(log.tasks, log.features, log.rewards)
    rows = belief._told_rows
    return FamilyWidthLook.of_rows(model, rows, np.arange(rows.size), BEFORE)


@pytest.mark.parametrize("armed", [True, False])
def test_it_is_near_the_width_that_fits_best(armed):
    log = click_log(5, armed=armed, tasks=40, rows=100)
    look = _look(log)
    t, q, r = look.found
    hierarchy = look.hierarchy()
    fit = fit_family_prior(log.sites(), structure="scalar", intervals=False)
    assert t * look._unit[1] == pytest.approx(fit.task_widths.std[1], rel=0.35)
    assert 0 <= r < 0.5
    assert hierarchy.is_armed == armed
    np.testing.assert_allclose(np.diagonal(hierarchy.hyper_cov), (q * look._unit) ** 2)
    np.testing.assert_allclose(widths_in(hierarchy, look._unit), (t, q, r), atol=1e-12)


def test_what_arms_have_in_common_is_seen():
    log = click_log(6, tasks=40, rows=150)
    rng = np.random.default_rng(0)
    rate = 1 / (1 + np.exp(1.5 - 1.2 * rng.normal(size=40)))  # the same for all arms of a task
    log.rewards[:] = rng.random(log.rewards.size) < rate[log.tasks]
    t, _, r = _look(log).found
    assert r > 0.7
    assert t == pytest.approx(1.2, rel=0.35)


def test_some_tasks_are_looked_at_about_the_mean_of_all():
    log = click_log(8, tasks=40, rows=50)
    whole, few = log.sites(), log.sites().rows(np.arange(10))
    model = UnknownFamilyWidths(hb.UnknownWidths.of(3, armed=True), log.family)
    everybody = FamilyWidthLook(model, whole, BEFORE)
    some = FamilyWidthLook(model, few, BEFORE, (whole.rewards, whole.exposure))
    alone = FamilyWidthLook(model, few, BEFORE)
    means = [look.hierarchy().hyper_mean[0] for look in (everybody, some, alone)]
    assert means[0] == means[1] != means[2]
    assert some.found != everybody.found


def test_without_any_click_widths_stay_what_they_may_be():
    log = click_log(7)
    log.rewards[:] = 0.0
    look = _look(log)
    assert 0.05 < look.found[0] < 2.0
    assert look.hierarchy().hyper_mean[0] < -5


def test_the_link_of_the_mean_is_where_the_mean_is():
    family = FAMILIES["poisson"]()
    link = link_of_mean(family, np.array([3.0, 4.0]), np.array([2.0, 1.0]))
    assert np.exp(link) == pytest.approx(7.5 / 4)
