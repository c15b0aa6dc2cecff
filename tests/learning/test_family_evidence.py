"""The evidence of three models where rewards are of a family."""

import numpy as np
import pytest
from support.click_logs import click_log

from hierbandits.beliefs.family_width_look import link_of_mean
from hierbandits.fitting.expectation import HierarchyParts, e_step
from hierbandits.learning.family_evidence import FamilyEvidence
from hierbandits.learning.model_comparison import Comparison

ONE = np.zeros(20, np.intp)


def _evidence(log, unit=1.0):
    sites = log.sites()
    centre = link_of_mean(sites.family, sites.rewards, sites.exposure) if log.armed else 0.0
    return FamilyEvidence(sites, ONE, np.full(sites.dim, unit), centre)


def _exact(log, centre, t, q):
    """Expectation propagation at these two widths."""
    sites, dim = log.sites(), 3
    one = np.ones(dim) if log.armed else np.eye(dim)
    mean, hyper, task = np.full(dim, centre), q**2 * one, t**2 * one
    sites.match(mean, [hyper, task], ONE)
    parts = HierarchyParts(mean, hyper, task, 1.0)
    return e_step(parts, sites.sums(), ONE, 1).log_evidence + sites.log_scale


@pytest.mark.parametrize("armed", [True, False])
def test_it_is_that_of_expectation_propagation(armed):
    log = click_log(1, armed=armed)
    evidence = _evidence(log)
    given = evidence.at(0.5)
    for q in (0.4, 2.0):
        expected = _exact(log, evidence.centre, 0.5, q)
        assert given.evidence(np.array([q])).log()[0] == pytest.approx(expected, abs=0.05)
    apart = given.evidence(np.array([0.0])).log()[0]
    assert apart == pytest.approx(_exact(log, evidence.centre, 0.5, 0.0), abs=0.01)
    one = evidence.at(0.0).evidence(np.array([0.8])).log()[0]
    assert one == pytest.approx(_exact(log, evidence.centre, 1e-3, 0.8), abs=0.05)


def test_equal_tasks_are_pooled_and_different_ones_are_not():
    log = click_log(2, rows=150)
    odds = Comparison.by(_evidence(log), 1.0).log_odds("hierarchical", "pooled")
    assert odds > 10
    rates = np.array([0.1, 0.2, 0.4])[log.features]
    log.rewards[:] = np.random.default_rng(0).random(log.rewards.size) < rates
    comparison = Comparison.by(_evidence(log), 1.0)
    assert comparison.best == "pooled"
    assert comparison.noise == {"pooled": 1.0, "hierarchical": 1.0, "independent": 1.0}
