"""Rewards of families that are replaced: those that have a row, and those that are settled."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hierbandits as hb
from hierbandits.beliefs.site_revision import SETTLED, SiteRevision, check_revisions
from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.models import BernoulliRewards, GaussianRewards, PoissonRewards

PRIOR = hb.GaussianHierarchy(
    hyper_mean=[0.2, -0.4],
    hyper_cov=[[1.0, 0.3], [0.3, 0.8]],
    task_cov=[[0.3, 0.1], [0.1, 0.2]],
    noise_std=1.0,
)


@dataclass(frozen=True)
class Bent(BernoulliRewards):
    """Clicks whose log odds bend: a click and none differ by more than a multiple of eta."""

    @staticmethod
    def slope(reward, exposure, shape, eta):
        return (2 * reward - exposure) * 2.718281828459045**-eta


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr("hierbandits.beliefs.site_rows.MOST_ROWS", 40)


def _belief(family, number=60):
    """A belief whose first rewards are settled, and its events."""
    rng = np.random.default_rng(2)
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(PRIOR, family), 3)
    events = rng.integers(0, 3, number), rng.normal(size=(number, 2)), rng.integers(0, 2, number)
    for rows in np.array_split(np.arange(number), 6):
        belief.observe(*(part[rows] for part in events))
    assert belief._told_rows.settled.number > 0
    return belief, events


def test_a_settled_gaussian_reward_is_replaced_exactly(few_rows):
    """Where sites are exact, so is a tilt of them: moments and the log evidence."""
    belief, (tasks, x, rewards) = _belief(GaussianRewards(0.7))
    right = rewards.astype(float)
    right[[0, 1, 5]] = 2.5, -1.0, 0.25
    for place in (0, 1, 5):
        belief.revise(int(tasks[place]), x[place], float(rewards[place]), right[place])
    plain = hb.Belief(_noisy(), 3)
    plain.observe(tasks, x, right)
    for node in range(4):
        assert_allclose(belief.task(node).mean, plain.task(node).mean, rtol=1e-9)
        assert_allclose(belief.task(node).cov, plain.task(node).cov, rtol=1e-9)
    assert_allclose(belief.log_evidence(), plain.log_evidence(), rtol=1e-9)
    sums = belief._told_rows.settled.sums(4)
    assert_allclose(sums.xy[tasks[0]], _weighted(belief, tasks, x, right, int(tasks[0])), rtol=1e-9)


def _noisy():
    return hb.GaussianHierarchy(
        hyper_mean=PRIOR.hyper_mean, hyper_cov=PRIOR.hyper_cov, task_cov=PRIOR.task_cov,
        noise_std=0.7,
    )  # fmt: skip


def _weighted(belief, tasks, x, rewards, task):
    """The weighted observations of a task's settled rewards, which are the first."""
    own = np.flatnonzero(tasks[: belief._told_rows.settled.number] == task)
    return (x[own] * rewards[own, None]).sum(0) / 0.7**2


@pytest.mark.parametrize("family", [BernoulliRewards(), PoissonRewards()])
def test_a_settled_count_tilts_what_is_known(few_rows, family):
    """By exp((new - old) eta): precisions stay, and means move by covariances."""
    belief, (tasks, x, rewards) = _belief(family)
    place = int(np.flatnonzero(rewards == 0)[0])
    node, before, log = int(tasks[place]), belief.copy(), belief.log_evidence()[0]
    belief.revise(node, x[place], 0.0, 1.0)
    known = before.task(node)
    assert_allclose(belief.task(node).mean, known.mean + known.cov @ x[place], rtol=1e-9)
    assert_allclose(belief.task(node).cov, known.cov, rtol=1e-12)
    mean, var = x[place] @ known.mean, x[place] @ known.cov @ x[place]
    assert_allclose(belief.log_evidence()[0] - log, mean + var / 2, rtol=1e-9)
    moved = belief._told_rows.settled.sums(4).xy - before._told_rows.settled.sums(4).xy
    assert_allclose(moved, np.eye(4)[node][:, None] * x[place], atol=1e-12)
    belief.revise(node, x[place], 1.0, 0.0)  # and back
    assert_allclose(belief.task(node).mean, known.mean, rtol=1e-9)
    assert_allclose(belief.log_evidence()[0], log, rtol=1e-9)


def test_a_settled_reward_of_another_law_is_refused(few_rows):
    belief, (tasks, x, _) = _belief(Bent())
    rows = belief._told_rows
    for refused in (
        lambda: belief.revise(int(tasks[0]), x[0], 0.0, 1.0),
        lambda: check_revisions(belief.family, rows, [(int(tasks[0]), x[0], 0.0, 1.0)]),
    ):
        with pytest.raises(ValueError, match="got 0, which is settled: of bernoulli rewards"):
            refused()


def test_each_reward_is_replaced_once():
    rows, family = SiteRows(2, armed=False, adds_up=True), BernoulliRewards()
    x = np.array([[1.0, 0.5], [1.0, 0.5], [0.3, 0.5]])
    rows.add(np.zeros(3, np.intp), x, np.zeros(3), np.ones(3), np.ones((3, 3)), 3)
    event = 0, x[0], 0.0, 1.0
    check_revisions(family, rows, [event, event])
    with pytest.raises(ValueError, match="old_reward must be one that node 0 has had, got 0"):
        check_revisions(family, rows, [event, event, event])
    with pytest.raises(ValueError, match="old_reward must be one that node 1 has had"):
        check_revisions(family, rows, [(1, x[0], 0.0, 1.0)])
    assert SiteRevision.of(family, rows, 0, x[0], np.array([0.0, 1.0])).row == 1
    rows._settle(2)
    check_revisions(family, rows, [event, event])
    found = SiteRevision.of(family, rows, 0, x[0], np.array([0.0, 1.0]))
    assert (found.row, found.tilt) == (SETTLED, 1.0)


def test_the_changes_of_a_sum_add_up():
    rows, family = SiteRows(2, armed=True, adds_up=True), BernoulliRewards()
    arms = np.zeros(3, np.intp)
    rows.add(arms, arms, np.array([0.0, 1.0, 0.0]), np.ones(3), np.ones((3, 3)), 3)
    check_revisions(family, rows, [(0, 0, 0.0, 1.0), (0, 0, 0.0, 1.0), (0, 0, 1.0, 0.0)])
    for events in ([(0, 0, 0.0, 1.0)] * 3, [(0, 0, 1.0, 0.0)] * 2):
        with pytest.raises(ValueError, match="old_reward's sum must be"):
            check_revisions(family, rows, events)
    with pytest.raises(ValueError, match="old_reward must be one that node 0 has had"):
        check_revisions(family, rows, [(0, 1, 0.0, 1.0)])
