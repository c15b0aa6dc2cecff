"""Tasks with a part in common are integrated out as any others."""

from dataclasses import replace

import numpy as np
import pytest
from support.worlds import assert_close

from hierbandits import TaskSums
from hierbandits.fitting.expectation import HierarchyParts, e_step

K = 4


def _case(populations, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    sums = TaskSums.zeros(6, K, armed=True)
    tasks, arms = rng.integers(0, 6, 40), rng.integers(0, K, 40)
    sums.add(tasks, arms, rng.standard_normal(40))
    root = rng.standard_normal((K, K))
    own, loading = rng.uniform(0.1, 0.5, K), rng.uniform(-1, 1, K if rank is None else (K, rank))
    cov = np.diag(own) + (np.outer(loading, loading) if rank is None else loading @ loading.T)
    parts = HierarchyParts(rng.standard_normal(K), root @ root.T + np.eye(K), cov, 0.6)
    return sums, np.sort(rng.integers(0, populations, 6)), parts, (own, loading)


@pytest.mark.parametrize("by_arm", [False, True])
@pytest.mark.parametrize("rank", [None, 1, 2, 3])
@pytest.mark.parametrize("populations", [1, 3])
def test_any_loading_gives_the_whole_covariance_s_answers(populations, by_arm, rank):
    sums, population, parts, factor = _case(populations, rank=rank)
    squares = None
    if by_arm:
        squares, parts = np.arange(9.0, 9 + K), replace(parts, noise_var=np.linspace(0.2, 2, K))
    whole = e_step(parts, sums, population, populations, squares)
    quick = e_step(replace(parts, factor=factor), sums, population, populations, squares)
    assert quick.square.size == (K if by_arm else 1)
    for name in ("log_evidence", "task_cov_slope", "square", "hyper_cov_slope",
                 "hyper_mean_slope", "hyper_means"):  # fmt: skip
        assert_close(getattr(quick, name), getattr(whole, name), rtol=1e-10)


def test_a_part_in_common_is_noticed():
    _, _, parts, _ = _case(1)
    assert parts.factor_of_tasks() is None
    own, loading = replace(parts, task_cov=np.diag([1.0, 2, 3, 4]) + 4.0).factor_of_tasks()
    assert (own.tolist(), loading.tolist()) == ([1.0, 2.0, 3.0, 4.0], [2.0] * 4)
    assert replace(parts, task_cov=np.ones(K)).factor_of_tasks() is None


def test_features_are_never_taken_for_arms():
    rng = np.random.default_rng(1)
    sums = TaskSums.zeros(3, 2)
    sums.add(rng.integers(0, 3, 20), rng.standard_normal((20, 2)), rng.standard_normal(20))
    parts = HierarchyParts(np.zeros(2), np.eye(2), np.eye(2) + 0.5, 0.6)
    near = replace(parts, task_cov=np.array([[1.5, 0.5 + 1e-9], [0.5 + 1e-9, 1.5]]))
    found, other = (e_step(p, sums, np.zeros(3, int), 1).log_evidence for p in (parts, near))
    assert found == pytest.approx(other, abs=1e-6)
