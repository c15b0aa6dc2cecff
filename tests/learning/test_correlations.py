"""Correlations of arms, from a log to the prior, the report and the agent."""

import numpy as np
import pytest
from support.learn_logs import drawn, posteriors, sums_of

import hierbandits as hb
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.outliers import Outliers
from hierbandits.learning.predictor import Predictor
from hierbandits.learning.sentence import Claim
from hierbandits.learning.verdict import on_correlations
from hierbandits.models.stated_covs import parts_in_common

COMMON = np.diag([0.04, 0.02, 0.09]) + 0.5
SPREAD = np.array([0.4, 0.8, 1.2])
FULL = np.outer(SPREAD, SPREAD) * np.array([[1, 0.9, 0.3], [0.9, 1, 0.4], [0.3, 0.4, 1]])


def _learned(cov, **options):
    rows = drawn(50, armed=True, tasks=60, events=60, task_cov=cov)
    return rows, *hb.learn_prior(rows.frame(), **rows.arguments, runs=4, seed=1, **options)


def test_a_part_in_common_is_learned_reported_and_drawn(tmp_path):
    _, prior, report = _learned(COMMON)
    assert report.structure.best == "common"
    assert not prior.is_diagonal
    own, common = parts_in_common(prior.task_cov)
    assert np.sqrt(common) == pytest.approx(np.sqrt(0.5), rel=0.3)
    np.testing.assert_allclose(own, [0.04, 0.02, 0.09], rtol=0.8)
    correlations = report.correlations
    np.testing.assert_allclose(np.diagonal(correlations.matrix), 1.0)
    assert correlations.common_std == pytest.approx(np.sqrt(common))
    assert report.claims[Claim.CORRELATED].log_odds > np.log(150)
    assert "all arms of a task have a part in common, of width" in report.verdict[2]
    assert [section.name for section in report.sections()][1:4] == [
        "widths", "structure", "correlations"
    ]  # fmt: skip
    page = report.write(tmp_path)
    assert (page.parent / "correlations.png").exists()
    again = hb.GaussianHierarchy.load(tmp_path / "prior.json")
    np.testing.assert_array_equal(again.task_cov, prior.task_cov)
    agent = hb.Agent(again, arms=report.arms, seed=0)
    made = agent.decide("new")
    agent.reward(made.id, 9.0)  # one arm does well, and so all do better
    assert (agent.belief.task(agent.node("new")).mean > prior.hyper_mean).all()


def test_a_full_covariance_is_learned_and_independent_arms_stay_so():
    _, prior, report = _learned(FULL, held_out=0)
    assert report.structure.best == "full"
    np.testing.assert_allclose(report.correlations.pairs, [0.9, 0.3, 0.4], atol=0.3)
    assert report.correlations.common_std is None
    _, prior, report = _learned(np.diag(SPREAD**2), held_out=0)
    assert prior.is_diagonal
    assert report.correlations is None
    assert Claim.CORRELATED not in report.claims
    said = on_correlations(None, report.structure, report.similarity)
    assert said[0].claim in (Claim.NOT_CORRELATED, Claim.CORRELATION_UNDECIDED)
    words = {section.name: section.words for section in report.sections()}["structure"]
    assert words[0] == said[0].text


def test_a_structure_may_be_forced():
    _, prior, report = _learned(COMMON, structure="full", held_out=0)
    assert report.structure is None
    assert parts_in_common(prior.task_cov) is None
    assert len(report.verdict[2]) > 0
    assert report.to_dict()["structure"] is None
    assert [s.name for s in report.sections()][2] == "correlations"
    _, prior, report = _learned(COMMON, structure="diagonal", held_out=0)
    assert prior.is_diagonal
    assert report.correlations is None


def test_what_is_said_of_tasks_is_that_of_the_dense_joint():
    rows = drawn(51, armed=True, tasks=8, events=12, task_cov=FULL)
    prior = hb.GaussianHierarchy.armed(
        3, hyper_mean=[1.0, 2.0, 3.0], hyper_std=[1.0, 2.0, 0.5], task_cov=FULL, noise_std=0.5
    )
    sums, joint = sums_of(rows), rows.joint(prior)
    predictor = Predictor.hierarchical(prior, sums, rows.population)
    for s in range(8):
        mean, cov = joint.of(s)
        found = predictor.signal(np.full(3, s), np.arange(3))
        np.testing.assert_allclose(found, [mean, np.diagonal(cov)], rtol=1e-8)
    names = rows.names, ("a", "b", "c")
    outliers = Outliers.of(prior, sums, posteriors(prior, sums, rows.population), *names)
    for s in range(8):  # the surprise of a task's means, given all other tasks
        mine = rows.task == s
        others = rows.joint(prior, ~mine)
        mean, cov = others.of(s)
        x, y = rows.vectors[mine], rows.rewards[mine]
        var = x @ cov @ x.T + 0.25 * np.eye(len(y))
        sums_cov = x.T @ var @ x  # of X'(y - X mean), whose rank is the number of arms played
        residual = x.T @ (y - x @ mean)
        expected = residual @ np.linalg.pinv(sums_cov, rcond=1e-10) @ residual
        assert outliers.surprise[s] == pytest.approx(expected, rel=1e-6)


def test_no_correlations_are_none():
    plain = hb.GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    assert Correlations.of(plain, (0, 1)) is None
    both = hb.GaussianHierarchy(
        hyper_mean=[0, 0], hyper_cov=np.eye(2), task_cov=[[4.0, 1.0], [1.0, 1.0]], noise_std=1.0
    )
    found = Correlations.of(both, (0, 1))
    np.testing.assert_allclose(found.matrix, [[1.0, 0.5], [0.5, 1.0]])
    assert found.common_std is None
