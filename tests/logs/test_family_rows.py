"""Rewards of a log for a family: sums of arms, rows, and rows that are alike."""

import numpy as np
import pytest
from support.click_logs import click_log

import hierbandits as hb
from hierbandits.logs.family_rows import merged
from hierbandits.models import FAMILIES


def test_rows_of_one_task_and_features_are_one():
    x = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0], [1.0, 2.0]])
    sites = merged(
        FAMILIES["poisson"](), np.array([0, 0, 0, 1]), x, np.array([2.0, 1.0, 5.0, 7.0]),
        num_tasks=2, dim=2,
    )  # fmt: skip
    order = np.lexsort((sites.features[:, 1], sites.tasks))
    np.testing.assert_array_equal(sites.tasks[order], [0, 0, 1])
    np.testing.assert_array_equal(sites.rewards[order], [7.0, 1.0, 7.0])
    np.testing.assert_array_equal(sites.exposure[order], [2.0, 1.0, 1.0])


def test_rewards_that_do_not_add_up_stay_rows():
    x = np.array([[1.0], [1.0]])
    family = FAMILIES["gaussian"]()
    sites = merged(family, np.zeros(2, np.intp), x, np.array([2.0, 3.0]), num_tasks=1, dim=1)
    assert sites.tasks.size == (1 if family.ADDS_UP else 2)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_sums_have_the_evidence_of_their_rows(family, armed):
    """So reports of one log under several families can be compared."""
    log = click_log(3, family=family, armed=armed)
    dim = log.theta.shape[1]
    if not armed:
        log.features = np.round(log.features)  # some rows of a task are alike
    one = np.ones(dim) if armed else np.eye(dim)
    covs = [4.0 * one, 0.25 * one]
    prior = hb.GaussianHierarchy.of_levels(hyper_mean=log.mean, covs=covs, noise_std=1, armed=armed)
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, family), num_tasks=20)
    belief.observe(log.tasks, log.features, log.rewards)
    belief.refit(tolerance=1e-9)
    sites = log.sites()
    assert sites.tasks.size < log.tasks.size
    logs = sites.log_evidence(log.mean, covs, np.zeros(20, np.intp), 1e-9)
    np.testing.assert_allclose(logs, belief.log_evidence()[0], atol=0.05)


def test_reports_of_rare_clicks_agree_on_their_evidence():
    """A count of rare clicks is Poisson's, nearly: 60,000 rows once differed by e^492."""
    log, logs = click_log(4, rate=0.01, tasks=10, rows=800), {}
    for family in ("bernoulli", "binomial", "poisson"):
        _, report = hb.learn_prior(
            log.frame(), **log.arguments, rewards=family, structure="scalar", runs=0
        )
        logs[family] = report.comparison.log_evidence["hierarchical"]
    assert abs(logs["bernoulli"] - logs["poisson"]) < 3
    np.testing.assert_allclose(logs["binomial"], logs["bernoulli"], rtol=1e-6)
