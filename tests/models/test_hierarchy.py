"""What a hierarchy accepts, and what it says of what it does not."""

import json

import numpy as np
import pytest

from hierbandits import GaussianHierarchy, UnknownWidths

EYE = np.eye(2)


def _prior(**changes):
    parts = {"hyper_mean": [0.0, 1.0], "hyper_cov": EYE, "task_cov": EYE, "noise_std": 0.5}
    return GaussianHierarchy(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hyper_mean": [0.0, np.nan]}, r"hyper_mean must be finite.* got nan at \[1\]"),
        ({"hyper_mean": [0.0, np.inf]}, "hyper_mean must be finite"),
        ({"hyper_mean": [0.0, 1e200]}, "hyper_mean must be finite and at most 1e"),
        ({"hyper_mean": 0.0}, r"hyper_mean must have shape \(any,\), got \(\)"),
        ({"hyper_mean": []}, "hyper_mean must have at least one entry"),
        ({"hyper_mean": ["a", "b"]}, "hyper_mean must be numbers"),
        ({"hyper_mean": [1j, 0]}, "hyper_mean must be numbers"),
        ({"hyper_mean": [[1.0], [1.0, 2.0]]}, "hyper_mean must be numbers in rows of one length"),
        ({"task_cov": np.eye(3)}, r"task_cov must have shape \(2, 2\) to match hyper_mean"),
        ({"task_cov": [[1.0, 0.5], [0.0, 1.0]]}, "task_cov must be symmetric"),
        ({"task_cov": [[1.0, 2.0], [2.0, 1.0]]}, "task_cov must be positive semi-definite"),
        ({"task_cov": [[-1.0, 0.0], [0.0, 1.0]]}, "task_cov must be positive semi-definite"),
        ({"task_cov": None}, "task_cov must be numbers"),
        ({"hyper_cov": [[1.0, 2.0], [2.0, 1.0]]}, "hyper_cov must be positive semi-definite"),
        ({"hyper_cov": [[np.nan, 0.0], [0.0, 1.0]]}, "hyper_cov must be finite"),
        ({"noise_std": 0.0}, "noise_std must be positive, got 0.0"),
        ({"noise_std": -1.0}, "noise_std must be positive, got -1.0"),
        ({"noise_std": np.nan}, "noise_std must be finite"),
        ({"noise_std": [1.0]}, "noise_std must have shape"),
    ],
)
def test_bad_parts_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        _prior(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_arms": 0}, "num_arms must be a whole number of at least 1, got 0"),
        ({"num_arms": 2.5}, "num_arms must be a whole number"),
        ({"num_arms": True}, "num_arms must be a whole number"),
        ({"hyper_std": -1.0}, "hyper_std must not be negative, got -1"),
        ({"task_std": -0.1}, "task_std must not be negative, got -0.1"),
        ({"task_std": [[1.0], [1.0, 2.0]]}, "task_std must be numbers in rows of one length"),
        ({"task_std": [1.0, 2.0]}, r"task_std must have shape \(3,\) to match num_arms"),
        ({"hyper_mean": np.nan}, "hyper_mean must be finite"),
    ],
)
def test_bad_arms_are_named(changes, message):
    parts = {"num_arms": 3, "hyper_std": 1.0, "task_std": 0.5, "noise_std": 1.0}
    with pytest.raises(ValueError, match=message):
        GaussianHierarchy.armed(**(parts | changes))


def test_deep_needs_a_covariance():
    with pytest.raises(ValueError, match="covs must hold at least one"):
        GaussianHierarchy.deep(hyper_mean=[0.0], covs=[], noise_std=1.0)
    with pytest.raises(ValueError, match="covs must hold at least one covariance, got 3"):
        GaussianHierarchy.deep(hyper_mean=[0.0], covs=3, noise_std=1.0)
    with pytest.raises(ValueError, match=r"covs\[1\] must be positive semi-definite"):
        GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]], [[-1e-9]]], noise_std=1.0)


def test_it_is_immutable_and_keeps_its_own_copy():
    mean = np.array([0.0, 1.0])
    prior = _prior(hyper_mean=mean)
    mean[0] = 9.0
    assert prior.hyper_mean[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        prior.hyper_mean[0] = 9.0
    with pytest.raises(AttributeError):
        prior.noise_std = 2.0


def test_the_singular_hyper_covariances_of_the_baselines_are_accepted():
    assert _prior(hyper_cov=np.zeros((2, 2))).hyper_cov.max() == 0.0
    assert _prior(hyper_cov=[[1.0, 1.0], [1.0, 1.0]]).hyper_cov[0, 1] == 1.0
    assert GaussianHierarchy.armed(2, hyper_std=0.0, task_std=1.0, noise_std=1.0).is_armed


def test_armed_takes_a_width_for_all_or_for_each_and_groups():
    prior = GaussianHierarchy.armed(
        2, hyper_mean=[1.0, 2.0], hyper_std=2.0, task_std=[1.0, 3.0], noise_std=1.0,
        group_stds=[0.5],
    )  # fmt: skip
    assert [cov.tolist() for cov in prior.covs] == [[4.0, 4.0], [0.25, 0.25], [1.0, 9.0]]
    assert (prior.num_levels, prior.dim, prior.is_armed) == (3, 2, True)
    assert "2-armed, 3 levels" in repr(prior)


@pytest.mark.parametrize("armed", [False, True])
def test_json_gives_the_same_hierarchy_back(armed):
    cov = np.array([[1.0, 0.1], [0.1, 1 / 3]])
    prior = GaussianHierarchy.armed(3, hyper_std=1 / 3, task_std=0.1, noise_std=0.7)
    if not armed:
        prior = GaussianHierarchy.deep(hyper_mean=[0.1, 0.2], covs=[cov, cov, cov], noise_std=0.7)
    again = GaussianHierarchy.from_dict(json.loads(json.dumps(prior.to_dict())))
    assert again.to_dict() == prior.to_dict()
    np.testing.assert_array_equal(again.hyper_cov, prior.hyper_cov)


@pytest.mark.parametrize("parts", [{}, {"covs": []}, [], {"covs": [1], "hyper_mean": [1]}])
def test_what_is_not_a_hierarchy_is_refused(parts):
    with pytest.raises(ValueError, match="parts must be of a hierarchy"):
        GaussianHierarchy.from_dict(parts)


@pytest.mark.parametrize("form", [GaussianHierarchy.linear, GaussianHierarchy.armed])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hyper_std": 1e40}, r"hyper_std must be finite and at most 1e\+30 in size, got 1e\+40"),
        ({"task_std": [0.1, np.nan]}, "task_std must be finite.* got nan at"),
        ({"task_std": -1.0}, "task_std must not be negative, got -1.0"),
        ({"task_std": [0.1, -0.2]}, "task_std must not be negative, got -0.2"),
        ({"hyper_std": [1.0, 2.0, 3.0]}, r"hyper_std must have shape \(2,\) to match num_"),
        ({"hyper_std": "wide"}, "hyper_std must be numbers"),
        ({"noise_std": 0.0}, "noise_std must be positive"),
        ({"hyper_mean": [np.inf, 0.0]}, "hyper_mean must be finite"),
    ],
)
def test_bad_widths_are_named(form, change, message):
    with pytest.raises(ValueError, match=message):
        form(2, **({"hyper_std": 1.0, "task_std": 0.5, "noise_std": 0.3} | change))


def test_linear_takes_a_width_for_all_or_for_each():
    prior = GaussianHierarchy.linear(
        2, hyper_mean=[1.0, 2.0], hyper_std=[0.0, 3.0], task_std=np.array(0.5), noise_std=0.3
    )
    np.testing.assert_array_equal(prior.hyper_cov, np.diag([0.0, 9.0]))
    np.testing.assert_array_equal(prior.task_cov, 0.25 * np.eye(2))
    np.testing.assert_array_equal(prior.hyper_mean, [1.0, 2.0])
    assert not prior.is_armed
    with pytest.raises(ValueError, match="num_features must be a whole number of at least 1"):
        GaussianHierarchy.linear(0, hyper_std=1.0, task_std=0.5, noise_std=0.3)


def test_one_more_arm_has_the_others_numbers_unless_it_is_given_its_own():
    prior = GaussianHierarchy.armed(
        3, hyper_mean=[0.1, 0.1, 0.1], hyper_std=[1.0, 2.0, 3.0], task_std=0.3, noise_std=0.5
    )
    wider = prior.with_arm("new", None, None, None)
    assert wider.hyper_mean.tolist() == [0.1] * 4  # to the bit, where they agree
    assert wider.task_cov.tolist() == [prior.task_cov[0]] * 4
    assert wider.hyper_cov[3] == pytest.approx(14 / 3)
    assert wider.noise_std == 0.5
    given = prior.with_arm("new", 2.0, 0.0, 0.7)
    assert (given.hyper_mean[3], given.hyper_cov[3]) == (2.0, 0.0)
    assert given.task_cov[3] == pytest.approx(0.49)
    np.testing.assert_array_equal(given.hyper_cov[:3], prior.hyper_cov)
    linear = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    for model in (linear, UnknownWidths.of(2, armed=False)):
        with pytest.raises(ValueError, match="name must be of an arm without features"):
            model.with_arm("new", None, None, None)
