"""The structure of highest evidence: no correlations where there are none, and no fewer."""

import numpy as np
import pytest
from support.fits import drawn_sums, uneven_sums

from hierbandits.fitting import fit_prior, structure_choice
from hierbandits.fitting.structure_choice import StructureChoice

SPREAD = np.array([0.4, 0.8, 1.2, 0.6])
TASK_COVS = {
    "scalar": 0.5 * np.eye(4),
    "diagonal": np.diag(SPREAD**2),
    "common": np.diag((SPREAD / 3) ** 2) + 0.6,
    "full": np.outer(SPREAD, SPREAD) * (0.1 * np.eye(4) + 0.9),
}


def _sums(kind, tasks=100, seed=0):
    return drawn_sums(
        np.random.default_rng(seed), tasks=tasks, events=60, task_cov=TASK_COVS[kind], noise=0.5,
        hyper_cov=np.eye(4), mean=np.zeros(4), armed=True,
    )  # fmt: skip


def _chosen(sums, **options):
    given = {"noise_std": None, "seed": 0} | options
    return StructureChoice.of(sums, np.zeros(len(sums.n), int), **given)


@pytest.mark.parametrize("kind", TASK_COVS)
def test_the_structure_of_the_truth_is_chosen(kind):
    choice = _chosen(_sums(kind))
    assert choice.best == kind
    assert list(choice.log_marginal) == ["scalar", "diagonal", "common", "full"]
    assert choice.numbers == {"scalar": 1, "diagonal": 4, "common": 5, "full": 10}
    assert sum(choice.probability.values()) == pytest.approx(1.0)
    assert max(choice.probability, key=choice.probability.get) == kind
    assert (choice.log_odds_of_correlations > 0) == (kind in ("common", "full"))
    assert choice.to_dict()["best"] == kind


def test_independent_arms_seldom_get_correlations():
    chosen = [_chosen(_sums(kind, 12, seed)).best for kind in ("scalar", "diagonal")
              for seed in range(15)]  # fmt: skip
    assert sum(kind in ("common", "full") for kind in chosen) <= 2


def test_few_tasks_do_not_get_a_full_covariance():
    chosen = [_chosen(_sums("common", 8, seed)).best for seed in range(10)]
    assert chosen.count("full") <= 1
    assert chosen.count("common") >= 7


def test_many_tasks_are_compared_by_some_of_them(monkeypatch):
    sums = _sums("common")
    sums.n[:3] = sums.yy[:3] = 0.0
    sums.xx[:3] = sums.xy[:3] = 0.0
    monkeypatch.setattr(structure_choice, "MOST_TASKS", 60)
    choice = _chosen(sums)
    assert (choice.best, choice.num_tasks) == ("common", 60)
    assert _chosen(sums, seed=1).log_marginal != choice.log_marginal
    assert _chosen(sums).log_marginal == choice.log_marginal
    monkeypatch.setattr(structure_choice, "MOST_TASKS", 97)
    exact = fit_prior(sums, structure="diagonal", noise_std=0.5).log_marginal
    assert _chosen(sums, noise_std=0.5).log_marginal["diagonal"] == pytest.approx(exact)


def test_covariances_of_too_many_numbers_are_not_tried(monkeypatch):
    monkeypatch.setattr(structure_choice, "MOST_NUMBERS", 9)
    assert list(_chosen(_sums("full")).log_marginal) == ["scalar", "diagonal", "common"]
    monkeypatch.setattr(structure_choice, "MOST_NUMBERS", 0)
    choice = _chosen(_sums("full"))
    assert list(choice.log_marginal) == ["scalar", "diagonal"]
    assert choice.log_odds_of_correlations is None


def test_features_may_be_correlated_too():
    rng = np.random.default_rng(1)
    for kind, cov in (("diagonal", np.diag([0.5, 0.1])), ("full", [[0.5, 0.4], [0.4, 0.4]])):
        sums = drawn_sums(rng, tasks=60, events=40, task_cov=cov, noise=0.5, hyper_cov=np.eye(2),
                          mean=np.zeros(2))  # fmt: skip
        choice = _chosen(sums)
        assert list(choice.log_marginal) == ["diagonal", "full"]
        assert choice.best == kind


def test_noises_of_arms_are_chosen_where_they_differ():
    rng = np.random.default_rng(2)
    for noises, by_arm in (([0.5, 0.5, 0.5], False), ([0.3, 0.5, 1.0], True)):
        for task_std in (0.0, 0.4):
            sums, squares = uneven_sums(rng, noises, tasks=30, events=30, task_std=task_std)
            choice = _chosen(sums, squares=squares)
            assert choice.has_noise_by_arm == by_arm
            assert (choice.log_odds_of_noises > 0) == by_arm
            assert list(choice.by_arm) == list(choice.log_marginal)
            assert sum(choice.probability.values()) == pytest.approx(1.0)
            assert choice.log_odds_of_correlations < 0
            assert choice.best in ("scalar", "diagonal")
            plain = choice.to_dict()
            assert plain["noise_by_arm"] == by_arm
            assert plain["log_marginal_with_noise_by_arm"] == choice.by_arm


def test_noises_of_arms_that_are_not_told_are_not_compared():
    sums, squares = uneven_sums(np.random.default_rng(3), [0.1, 1.0], tasks=30, events=10)
    assert _chosen(sums, squares=squares).has_noise_by_arm
    rare = sums.xx[:, 0] > 0
    few = sums.rows(np.arange(30))
    few.xx[:, 0], few.xy[:, 0], few.n[:] = rare, sums.xy[:, 0] / 10, rare + sums.xx[:, 1]
    squares = np.column_stack([few.xy[:, 0] ** 2, squares[:, 1]])
    few.yy[:] = squares.sum(1)
    choice = _chosen(few, squares=squares)
    assert (choice.by_arm, choice.has_noise_by_arm, choice.log_odds_of_noises) == ({}, False, None)
    assert _chosen(sums).log_odds_of_noises is None
