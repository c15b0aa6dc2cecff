"""The form that is assumed where widths are unknown."""

import numpy as np
import pytest

from hierbandits.models.unknown_widths import COMMON_ARMS, FACTOR_ARMS, UnknownWidths, factors_of


def test_the_hierarchy_before_any_reward_has_widths_of_one():
    for dim, armed in ((2, False), (3, True), (COMMON_ARMS, True), (COMMON_ARMS + 1, True)):
        widths = UnknownWidths.of(dim, armed=armed, hyper_mean=np.arange(dim))
        prior = widths.hierarchy()
        assert (prior.dim, prior.is_armed, prior.noise_std) == (dim, armed, 1.0)
        assert prior.is_diagonal == widths.is_diagonal == (dim > COMMON_ARMS)
        one = np.ones(dim) if widths.is_diagonal else np.eye(dim)
        common = armed and not widths.is_diagonal  # of tasks
        np.testing.assert_array_equal(prior.hyper_cov, one)
        np.testing.assert_array_equal(prior.task_cov, one + common)
        np.testing.assert_array_equal(prior.hyper_mean, np.arange(dim))
    many = UnknownWidths.of(COMMON_ARMS + 1, armed=False)
    assert not many.is_diagonal
    assert UnknownWidths.of(2, armed=True, noise_std=0.3).hierarchy().noise_std == 0.3


def test_few_arms_share_a_factor():
    assert [factors_of(arms) for arms in (1, 2, FACTOR_ARMS, FACTOR_ARMS + 1)] == [0, 1, 1, 0]
    assert UnknownWidths.of(FACTOR_ARMS, armed=True).num_factors == 1
    assert UnknownWidths.of(FACTOR_ARMS, armed=False).num_factors == 0


def test_widths_make_a_hierarchy_with_a_shifted_mean():
    widths = UnknownWidths.of(2, armed=True, hyper_mean=[1.0, 2.0])
    prior = widths.with_widths(4.0 * np.eye(2), [[1.0, 0.5], [0.5, 2.0]], 0.1, shift=3.0)
    np.testing.assert_array_equal(prior.hyper_mean, [4.0, 5.0])
    np.testing.assert_array_equal(prior.hyper_cov, 4.0 * np.eye(2))
    np.testing.assert_array_equal(prior.task_cov, [[1.0, 0.5], [0.5, 2.0]])
    assert prior.noise_std == 0.1


def test_plain_data_and_text():
    widths = UnknownWidths.of(3, armed=True, hyper_mean=[1.0, 2.0, 3.0])
    again = UnknownWidths.from_dict(widths.to_dict())
    assert (again.dim, again.is_armed, again.noise_std) == (3, True, None)
    np.testing.assert_array_equal(again.hyper_mean, widths.hyper_mean)
    assert repr(widths) == "UnknownWidths(3-armed, noise_std=unknown)"
    assert repr(UnknownWidths.of(2, armed=False, noise_std=0.5)) == (
        "UnknownWidths(2 features, noise_std=0.5)"
    )
    with pytest.raises(ValueError, match="armed must be a boolean, got 1"):
        UnknownWidths.from_dict(widths.to_dict() | {"armed": 1})


def test_one_more_arm():
    widths = UnknownWidths.of(2, armed=True, noise_std=0.2, hyper_mean=[1.0, 3.0])
    np.testing.assert_array_equal(widths.with_arm("c", None, None, None).hyper_mean, [1, 3, 2])
    more = widths.with_arm("c", 7.0, None, None)
    np.testing.assert_array_equal(more.hyper_mean, [1, 3, 7])
    assert more.noise_std == 0.2
    with pytest.raises(ValueError, match="task_std must not be given where widths are unknown"):
        widths.with_arm("c", None, None, 0.1)
    with pytest.raises(ValueError, match="name must be of an arm without features"):
        UnknownWidths.of(2, armed=False).with_arm("c", None, None, None)
    with pytest.raises(ValueError, match="arms must not be put in order"):
        widths.reordered(["b", "a"])


def test_the_callers_array_is_copied_and_nobody_writes_into_the_copy():
    given = np.array([1.0, 2.0])
    for widths in (
        UnknownWidths.of(2, armed=False, hyper_mean=given),
        UnknownWidths(given, False, None),
    ):
        given[:] = 9.0
        assert widths.hyper_mean.tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="read-only"):
            widths.hyper_mean[0] = 3.0
        given[:] = [1.0, 2.0]
    for parts, message in (
        (([[1.0]], False, None), "hyper_mean must have shape"),
        (([], False, None), "hyper_mean must have at least one entry"),
        (([1.0], 1, None), "is_armed must be a boolean"),
        (([1.0], True, -1.0), "noise_std must be positive"),
        (([1.0], True, 1e30), "noise_std must be in"),
    ):
        with pytest.raises(ValueError, match=message):
            UnknownWidths(*parts)
