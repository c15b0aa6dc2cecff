"""Arms as people state them: independent, with a part in common, or with full covariances."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import GaussianHierarchy
from hierbandits.models import variants
from hierbandits.models.stated_arms import with_usual_arm

FULL = random_cov(np.random.default_rng(0), 3)
TOGETHER = GaussianHierarchy.armed(
    arms=["a", "b", "c"], hyper_mean=[1.0, 2.0, 3.0], hyper_std=[1.0, 2.0, 3.0],
    task_std=[0.1, 0.2, 0.3], common_std=0.5, noise_std=0.5,
)  # fmt: skip
CORRELATED = GaussianHierarchy.armed(3, hyper_std=2.0, task_cov=FULL, noise_std=0.5)


def test_a_part_in_common_adds_to_every_covariance():
    expected = np.diag([0.01, 0.04, 0.09]) + 0.25
    np.testing.assert_allclose(TOGETHER.task_cov, expected)
    np.testing.assert_allclose(TOGETHER.hyper_cov, np.diag([1.0, 4.0, 9.0]))
    assert TOGETHER.is_armed
    assert not TOGETHER.is_diagonal
    assert "3-armed correlated" in repr(TOGETHER)


def test_one_full_covariance_makes_all_of_them_full():
    np.testing.assert_array_equal(CORRELATED.task_cov, FULL)
    np.testing.assert_array_equal(CORRELATED.hyper_cov, 4.0 * np.eye(3))
    other = GaussianHierarchy.armed(3, hyper_cov=FULL, task_std=2.0, noise_std=0.5)
    np.testing.assert_array_equal(other.hyper_cov, FULL)
    np.testing.assert_array_equal(other.task_cov, 4.0 * np.eye(3))
    deep = GaussianHierarchy.armed(
        3, hyper_std=1.0, group_stds=[0.5], task_std=0.2, common_std=1.0, noise_std=0.5
    )
    assert [cov.shape for cov in deep.covs] == [(3, 3)] * 3
    np.testing.assert_allclose(deep.covs[1], 0.25 * np.eye(3))


def test_independent_arms_stay_diagonal():
    prior = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    assert prior.is_diagonal
    assert [cov.shape for cov in prior.covs] == [(3,), (3,)]
    assert not GaussianHierarchy.linear(3, hyper_std=1, task_std=1, noise_std=1).is_diagonal


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"task_std": 1.0}, "hyper_std must be given, or hyper_cov, got neither"),
        ({"hyper_std": 1.0}, "task_std must be given, or task_cov, got neither"),
        (
            {"hyper_std": 1.0, "task_std": 1.0, "task_cov": FULL},
            "task_std must be given, or task_cov, got both",
        ),
        ({"hyper_std": 1.0, "task_cov": np.eye(2)}, r"task_cov must have shape \(3, 3\) to match"),
        ({"hyper_std": 1.0, "task_cov": -FULL}, "task_cov must be positive semi-definite"),
        (
            {"hyper_std": 1.0, "task_cov": FULL, "common_std": 1.0},
            "common_std must come with task_std, got task_cov",
        ),
        (
            {"hyper_std": 1.0, "task_std": 1.0, "common_std": -1.0},
            "common_std must not be negative, got -1",
        ),
        (
            {"hyper_std": 1.0, "task_std": 1.0, "common_std": [1.0, 2.0]},
            "common_std must have shape",
        ),
        ({"hyper_std": 1.0, "task_std": 1.0, "common_std": np.nan}, "common_std must be finite"),
    ],
)
def test_wrong_statements_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        GaussianHierarchy.armed(3, noise_std=1.0, **given)


def test_another_order_of_arms_moves_covariances(tmp_path):
    prior = CORRELATED.with_arms(["a", "b", "c"])
    moved = prior.reordered(["c", "a", "b"])
    order = [2, 0, 1]
    np.testing.assert_array_equal(moved.task_cov, FULL[order][:, order])
    moved.save(tmp_path / "prior.json")
    again = GaussianHierarchy.load(tmp_path / "prior.json")
    assert again.to_dict() == moved.to_dict()
    assert again.is_armed
    assert not again.is_diagonal


def test_variants_keep_the_form():
    total = FULL + 4.0 * np.eye(3)
    np.testing.assert_array_equal(variants.marginal(CORRELATED).task_cov, total)
    np.testing.assert_array_equal(variants.pooled(CORRELATED).hyper_cov, total)
    np.testing.assert_array_equal(variants.known_mean(CORRELATED).hyper_cov, np.zeros((3, 3)))
    for make in (variants.marginal, variants.pooled, variants.known_mean, variants.ridge):
        assert make(CORRELATED).is_armed
    assert variants.ridge(CORRELATED).is_diagonal
    assert variants.unknown_widths(CORRELATED).is_armed


def test_a_new_arm_has_the_part_in_common():
    grown = TOGETHER.with_arm("d", None, None, None)
    np.testing.assert_allclose(grown.hyper_cov, np.diag([1.0, 4.0, 9.0, 14 / 3]))
    np.testing.assert_allclose(grown.task_cov, np.diag([0.01, 0.04, 0.09, 0.14 / 3]) + 0.25)
    given = TOGETHER.with_arm("d", 0.0, 2.0, 0.7)
    np.testing.assert_allclose(given.task_cov[3], [0.25, 0.25, 0.25, 0.25 + 0.49])
    assert given.hyper_cov[3, 3] == 4.0
    assert given.arms == ("a", "b", "c", "d")


def test_a_new_arm_has_the_usual_correlations():
    grown = CORRELATED.with_arm("d", None, None, 0.5).task_cov
    std = np.sqrt(np.diagonal(FULL))
    correlation = FULL / np.outer(std, std)
    expected = [(correlation[a].sum() - 1) / 2 for a in range(3)]
    np.testing.assert_allclose(grown[3, :3] / (0.5 * std), expected)
    assert grown[3, 3] == pytest.approx(0.25)
    np.testing.assert_allclose(grown[:3, :3], FULL)
    usual = with_usual_arm(FULL, "task_std", None)
    assert usual[3, 3] == pytest.approx(np.diagonal(FULL).mean())


def test_correlations_that_no_new_arm_can_have_become_those_of_a_mean():
    """No third arm can go against two that go against each other."""
    grown = with_usual_arm(np.array([[1.0, -0.9], [-0.9, 2.0]]), "task_std", None)
    assert np.linalg.eigvalsh(grown)[0] > 0
    mean = (1 - 0.9 / np.sqrt(2)) / 2  # the correlation of an arm with both, standardized
    np.testing.assert_allclose(grown[2, :2], mean * np.sqrt([1.0, 2.0]) * np.sqrt(1.5))
    np.testing.assert_array_equal(with_usual_arm(FULL, "task_std", 0.0)[3], 0.0)


def test_arms_are_alike_if_nothing_tells_them_apart():
    alike = GaussianHierarchy.armed(3, hyper_std=1, task_std=1, common_std=2, noise_std=1)
    assert alike.arms_alike
    assert GaussianHierarchy.armed(3, hyper_std=1, task_std=1, noise_std=1).arms_alike
    assert not TOGETHER.arms_alike
    odd = np.eye(3)
    odd[0, 1] = odd[1, 0] = 0.5
    assert not GaussianHierarchy.armed(3, hyper_std=1, task_cov=odd, noise_std=1).arms_alike
    assert GaussianHierarchy.armed(1, hyper_std=1, task_cov=[[2.0]], noise_std=1).arms_alike
