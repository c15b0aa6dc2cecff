"""Sites of a log, matched under one hierarchy after another."""

import numpy as np
import pytest
from support.click_logs import click_log

import hierbandits as hb
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.models import FAMILIES

ONE = np.zeros(20, np.intp)


def _widths(log, task, hyper=2.0):
    dim = log.theta.shape[1]
    one = np.ones(dim) if log.armed else np.eye(dim)
    return log.mean, [hyper**2 * one, task**2 * one]


def _belief(log, mean, covs):
    """What a belief knows that has observed the rows and refits."""
    model = hb.GeneralizedHierarchy(
        hb.GaussianHierarchy.of_levels(hyper_mean=mean, covs=covs, noise_std=1, armed=log.armed),
        log.family,
    )
    belief = hb.MatchedBelief(model, num_tasks=len(log.theta))
    belief.observe(log.tasks, log.features, log.rewards)
    belief.refit(tolerance=1e-9)
    return belief


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize("armed", [True, False])
def test_matched_sites_are_a_refitted_belief_whatever_came_before(family, armed):
    log = click_log(3, family=family, armed=armed)
    sites, (mean, covs) = log.sites(), _widths(log, 0.7)
    sites.match(*_widths(log, 3.0), ONE)
    after, belief = sites.match(mean, covs, ONE), _belief(log, mean, covs)
    for node in (0, 7, 19, int(belief.roots[0])):
        np.testing.assert_allclose(after.task(node).mean, belief.task(node).mean, atol=1e-6)
        np.testing.assert_allclose(after.task(node).cov, belief.task(node).cov, atol=1e-6)


def test_the_sites_as_gaussian_sums_give_the_same_posterior():
    log = click_log(4, armed=False)
    sites, (mean, covs) = log.sites(), _widths(log, 0.5)
    belief = sites.match(mean, covs, ONE)
    prior = hb.GaussianHierarchy.of_levels(hyper_mean=mean, covs=covs, noise_std=1, armed=False)
    own = sites.sums()
    squares = np.full(len(own.n), 1e6)  # any: means and covariances do not depend on them
    gaussian = hb.Belief.from_sums(prior, hb.TaskSums(own.xx, own.xy, squares, log.sums().n))
    np.testing.assert_allclose(gaussian.task(3).mean, belief.task(3).mean, atol=1e-7)
    np.testing.assert_allclose(gaussian.hyper().cov, belief.hyper().cov, atol=1e-8)


def test_tasks_taken_for_one_are_a_belief_of_one_level():
    log = click_log(5)
    mean, (cov, _) = _widths(log, 1.0)
    pooled = log.sites().match(mean, [cov], ONE)
    together = log.sites().pooled(ONE)
    same = together.match(mean, [cov], ONE[:1])
    np.testing.assert_allclose(pooled.hyper().mean, same.hyper().mean, atol=1e-3)
    totals = log.sums()
    rates = totals.xy.sum(0) / totals.xx.sum(0)
    np.testing.assert_allclose(pooled.hyper().mean, np.log(rates / (1 - rates)), atol=0.02)


def test_some_of_the_tasks_keep_their_own_rewards():
    log = click_log(6)
    some = log.sites().rows(np.array([4, 2]))
    assert some.num_tasks == 2
    sums = log.sums()
    for place, task in enumerate((4, 2)):
        own = some.tasks == place
        assert some.rewards[own].sum() == sums.xy[task].sum()
        assert some.exposure[own].sum() == sums.n[task]


def test_units_change_features_and_nothing_else():
    log = click_log(7, armed=False)
    mean, covs = _widths(log, 0.6)
    unit = np.array([2.0, 0.5, 3.0])
    plain, scaled = log.sites(), log.sites().scaled(unit)
    plain.match(mean, covs, ONE)
    scaled.match(mean / unit, [cov / np.outer(unit, unit) for cov in covs], ONE)
    np.testing.assert_allclose(plain.log_scale, scaled.log_scale, rtol=1e-6)


def test_arms_are_read_from_sums():
    log = click_log(8)
    sites = FamilySites.of_arms(FAMILIES["bernoulli"](), log.sums())
    rows = log.sites()
    np.testing.assert_array_equal(sites.rewards, rows.rewards)
    np.testing.assert_array_equal(sites.exposure, rows.exposure)
