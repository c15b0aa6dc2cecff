"""The evidence of rewards of a family: its slope, and its value beside a sum over a grid."""

import numpy as np
import pytest
from scipy.special import logsumexp
from support.click_logs import click_log

from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.family_objective import FamilyObjective
from hierbandits.fitting.structure import Structure
from hierbandits.fitting.weak_prior import WeakPrior


def _objective(log, structure="diagonal", populations=1, weak=True):
    dim = log.theta.shape[1]
    kind = Structure.of(structure, dim, 1, log.armed)
    population = np.sort(np.arange(len(log.theta)) % populations)
    many = populations > 1
    hyper = kind.start(1.0) if many or kind.is_diagonal else np.eye(dim)
    sites = log.sites()
    return FamilyObjective(
        sums=sites.sums(),
        sites=sites,
        population=population,
        num_populations=populations,
        structure=kind,
        start=HierarchyParts(log.mean, hyper, kind.start(0.25), 1.0),
        learns_noise=False,
        learns_mean=many,
        learns_hyper=many,
        weak=WeakPrior.of(structure, dim) if weak else WeakPrior.none(),
    )


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
@pytest.mark.parametrize(
    ("structure", "armed"), [("diagonal", True), ("common", True), ("full", False)]
)
@pytest.mark.parametrize("populations", [1, 3])
def test_the_slope_is_that_of_the_evidence(family, structure, armed, populations):
    log = click_log(1, family=family, armed=armed, rows=25, tasks=9)
    objective = _objective(log, structure, populations)
    free = objective.free(objective.start)
    free = free + 0.3 * np.random.default_rng(0).standard_normal(free.size)
    slope = objective.value_and_slope(free)[1]
    for i, move in enumerate(1e-3 * np.eye(free.size)):
        ahead, behind = (objective.value_and_slope(free + s * move)[0] for s in (1, -1))
        assert slope[i] == pytest.approx((ahead - behind) / 2e-3, rel=2e-3, abs=2e-3)


def test_the_evidence_is_that_of_a_sum_over_a_grid():
    """One arm: mu and each task's log odds on grids; 2 % of rewards are clicks."""
    log = click_log(2, rate=0.02, tasks=12, rows=50, dim=1)
    objective = _objective(log, weak=False)
    sums, width = log.sums(), 0.8
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    logs = np.log(weights / np.sqrt(2 * np.pi))
    mu = log.mean[0] + nodes  # hyper width 1
    theta = mu[:, None] + width * nodes  # (mu, theta)
    total = logs.copy()
    for clicks, events in zip(sums.xy[:, 0], sums.n, strict=True):
        each = clicks * theta - events * np.logaddexp(0, theta)
        total += logsumexp(each + logs, axis=1)
    value = objective.value_and_slope(np.array([np.log(width)]))[0]
    assert value == pytest.approx(logsumexp(total), abs=0.05)
