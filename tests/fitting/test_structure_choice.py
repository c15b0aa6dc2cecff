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
    "low-rank": np.outer(SPREAD, SPREAD) * (0.1 * np.eye(4) + 0.9),
    "full": np.diag(SPREAD) @ np.kron(np.eye(2), [[1.0, 0.9], [0.9, 1.0]]) @ np.diag(SPREAD),
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
    assert list(choice.log_marginal) == ["scalar", "diagonal", "common", "low-rank 1", "full"]
    assert list(choice.numbers.values()) == [1, 4, 5, 8, 10]
    assert sum(choice.probability.values()) == pytest.approx(1.0)
    assert max(choice.probability, key=choice.probability.get) == choice.best_name
    assert (choice.log_odds_of_correlations > 0) == (kind in ("common", "low-rank", "full"))
    assert choice.to_dict()["best"] == choice.best_name


def test_independent_arms_seldom_get_correlations():
    chosen = [_chosen(_sums(kind, 12, seed)).best for kind in ("scalar", "diagonal")
              for seed in range(15)]  # fmt: skip
    assert sum(kind not in ("scalar", "diagonal") for kind in chosen) <= 2


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
    """A few factors are, as far as there is time and they have fewer numbers."""
    assert _chosen(_sums("full")).most_factors == np.inf
    monkeypatch.setattr(structure_choice, "MOST_NUMBERS", 9)
    choice = _chosen(_sums("full"))
    assert list(choice.log_marginal) == ["scalar", "diagonal", "common", "low-rank 1"]
    assert (choice.best, choice.most_factors, choice.has_common) == ("low-rank", 1, True)
    assert choice.log_odds_of_correlations > 0
    monkeypatch.setattr(structure_choice, "MOST_WORK", 100.0 * 16 * 8)
    choice = _chosen(_sums("full"))
    assert list(choice.log_marginal) == ["scalar", "diagonal", "common", "low-rank 1"]
    assert (choice.most_factors, choice.num_tasks) == (1, 100)
    monkeypatch.setattr(structure_choice, "MOST_WORK", 80.0 * 16 * 8)
    assert _chosen(_sums("full")).num_tasks == 80
    monkeypatch.setattr(structure_choice, "MOST_WORK", 60.0 * 16 * 5)
    choice = _chosen(_sums("full"))
    assert (choice.num_tasks, choice.most_factors, choice.has_common) == (60, 0, True)
    monkeypatch.setattr(structure_choice, "MOST_WORK", 0.0)
    choice = _chosen(_sums("full"))
    assert list(choice.log_marginal) == ["scalar", "diagonal"]
    assert choice.log_odds_of_correlations is None
    assert (choice.most_factors, choice.has_common) == (0, False)


def test_few_factors_are_tried_beside_a_full_covariance():
    sums = drawn_sums(
        np.random.default_rng(0), tasks=30, events=50, noise=1.0, hyper_cov=np.eye(8),
        task_cov=np.outer(line := np.linspace(1, -1, 8), line) + 0.01 * np.eye(8),
        mean=np.zeros(8), armed=True,
    )  # fmt: skip
    choice = _chosen(sums)
    assert list(choice.log_marginal)[3:] == ["low-rank 1", "low-rank 2", "low-rank 3", "full"]
    assert (choice.best_name, choice.most_factors) == ("low-rank 1", np.inf)
    assert choice.log_marginal["low-rank 1"] - choice.log_marginal["full"] > 10


@pytest.mark.parametrize("rank", [1, 2])
def test_many_arms_may_have_a_few_factors(rank):
    """Fourteen arms: one line from 1 to -1, or two halves that each move together."""
    line = np.linspace(1, -1, 14)[:, None]
    halves = 0.8 * np.kron(np.eye(2), np.ones((7, 1)))
    loading = line if rank == 1 else halves
    sums = drawn_sums(
        np.random.default_rng(rank), tasks=60, events=100, noise=1.0, hyper_cov=np.eye(14),
        task_cov=loading @ loading.T + 0.01 * np.eye(14), mean=np.zeros(14), armed=True,
    )  # fmt: skip
    choice = _chosen(sums)
    assert (choice.best_name, choice.best, choice.rank) == (f"low-rank {rank}", "low-rank", rank)
    assert choice.log_odds_of_correlations > 50
    assert choice.numbers[f"low-rank {rank}"] == 14 * (rank + 1)
    assert choice.to_dict()["best"] == f"low-rank {rank}"
    assert choice.to_dict()["most_factors"] == 3


def test_many_arms_without_correlations_get_no_factors():
    """As with few arms, widths and a part in common are told from factors."""
    for seed in range(4):
        for common in (0.0, 0.5):
            sums = drawn_sums(
                np.random.default_rng(seed), tasks=40, events=100, noise=1.0,
                hyper_cov=np.eye(14), task_cov=0.1 * np.eye(14) + common, mean=np.zeros(14),
                armed=True,
            )  # fmt: skip
            assert _chosen(sums).best == ("common" if common else "scalar")


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


def test_rewards_of_a_family_try_one_factor_at_most():
    rng = np.random.default_rng(0)
    sums = drawn_sums(rng, tasks=20, events=40, task_cov=np.eye(13), noise=1.0,
                      hyper_cov=np.eye(13), mean=np.zeros(13), armed=True)  # fmt: skip
    asked = []

    def fit_some(rows, kind, rank):
        asked.append((rows.size, kind, rank))
        return fit_prior(sums.rows(rows), structure=kind, rank=rank, intervals=False)

    choice = _chosen(sums, fit_some=fit_some)
    assert asked == [(20, kind, 1) for kind in ("scalar", "diagonal", "common", "low-rank")]
    assert (choice.most_factors, list(choice.numbers)[-1]) == (1, "low-rank 1")
