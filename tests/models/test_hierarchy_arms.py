"""Arms' names travel with a hierarchy, and so does the log that it was learned from."""

import numpy as np
import pytest

from hierbandits import GaussianHierarchy, UnknownWidths
from hierbandits.models import variants
from hierbandits.models.log_totals import LogTotals

LOG = LogTotals(3.0, 2.5, ((1.0, 0.5, 0.2), (2.0, 0.1, 0.4)))
WIDTHS = {"hyper_std": [1.0, 2.0, 3.0], "task_std": [0.1, 0.2, 0.3], "noise_std": 0.5}
NAMED = GaussianHierarchy.armed(arms=["a", "b", 3], hyper_mean=[1.0, 2.0, 3.0], **WIDTHS)


def test_names_say_how_many_arms_there_are():
    assert (NAMED.dim, NAMED.arms) == (3, ("a", "b", 3))
    assert GaussianHierarchy.armed(3, arms=("x", "y", "z"), **WIDTHS).arms == ("x", "y", "z")
    assert GaussianHierarchy.armed(3, **WIDTHS).arms is None
    assert GaussianHierarchy.armed(3, arms=np.array([4, 5, 6]), **WIDTHS).arms == (4, 5, 6)


@pytest.mark.parametrize(
    ("num_arms", "arms", "message"),
    [
        (None, None, "num_arms must be given, or arms, got neither"),
        (2, ["a", "b", "c"], r"hyper_std must have shape \(2,\)"),
        (3, ["a", "b"], r"arms must name each of the 3 arms, got 2: \['a', 'b'\]"),
        (3, ["a", "b", "a"], "arms must have distinct names"),
        (3, ["a", "b", 1.5], "arms must be named by strings or integers, got 1.5"),
        (3, ["a", "b", True], "arms must be named by strings or integers, got True"),
        (3, "abc", "arms must be several names, got 'abc'"),
        (3, 7, "arms must be several names, got 7"),
    ],
)
def test_wrong_names_are_refused(num_arms, arms, message):
    with pytest.raises(ValueError, match=message):
        GaussianHierarchy.armed(num_arms, arms=arms, **WIDTHS)


def test_features_have_no_arms_names():
    with pytest.raises(ValueError, match="arms must not be named where they have features"):
        GaussianHierarchy.linear(2, hyper_std=1.0, task_std=1.0, noise_std=1.0).with_arms(
            ["a", "b"]
        )


def test_names_are_kept_in_files_and_variants(tmp_path):
    NAMED.save(tmp_path / "prior.json")
    loaded = GaussianHierarchy.load(tmp_path / "prior.json")
    assert loaded.arms == NAMED.arms
    assert loaded.to_dict() == NAMED.to_dict()
    for variant in (variants.known_mean, variants.marginal, variants.pooled, variants.ridge):
        assert variant(NAMED).arms == NAMED.arms
    assert NAMED.with_arms(["p", "q", "r"]).arms == ("p", "q", "r")
    assert NAMED.with_arms(None).arms is None
    np.testing.assert_array_equal(NAMED.with_arms(None).hyper_cov, NAMED.hyper_cov)


def test_another_order_of_names_moves_every_part():
    moved = NAMED.with_levels(NAMED.hyper_mean, NAMED.covs, learned_from=LOG)
    moved = moved.reordered([3, "a", "b"])
    assert moved.arms == (3, "a", "b")
    assert moved.hyper_mean.tolist() == [3.0, 1.0, 2.0]
    np.testing.assert_allclose(moved.hyper_cov, [9.0, 1.0, 4.0])
    np.testing.assert_allclose(moved.task_cov, [0.09, 0.01, 0.04])
    assert (moved.noise_std, moved.learned_from) == (0.5, LOG)
    assert moved.reordered(["a", "b", 3]).to_dict()["covs"] == NAMED.to_dict()["covs"]


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c"], ["a", "b", 3, 4], ["a", "b", "3"]])
def test_other_names_are_refused(names):
    with pytest.raises(ValueError, match=r"arms must be those of the prior, \('a', 'b', 3\), got"):
        NAMED.reordered(names)
    with pytest.raises(ValueError, match="arms must be those of the prior, None, got"):
        GaussianHierarchy.armed(3, **WIDTHS).reordered(names)


def test_the_log_is_kept_as_long_as_the_mean_is(tmp_path):
    learned = NAMED.with_levels(NAMED.hyper_mean, NAMED.covs, learned_from=LOG)
    learned.save(tmp_path / "prior.json")
    assert GaussianHierarchy.load(tmp_path / "prior.json").learned_from == LOG
    for variant in (variants.known_mean, variants.marginal, variants.pooled):
        assert variant(learned).learned_from == LOG
    assert learned.with_arms(None).learned_from == LOG
    assert variants.ridge(learned).learned_from is None  # which knows nothing of the log
    assert learned.with_levels(NAMED.hyper_mean + 1, NAMED.covs).learned_from is None
    widths = variants.unknown_widths(learned)
    assert widths.learned_from == LOG
    assert UnknownWidths.from_dict(widths.to_dict()).learned_from == LOG
    assert widths.with_arm("new", None, None, None).learned_from == LOG
    assert NAMED.learned_from is None


def test_unknown_widths_name_no_arms():
    widths = variants.unknown_widths(NAMED)
    assert widths.arms is None
    with pytest.raises(ValueError, match="arms must not be put in order where a prior names none"):
        widths.reordered(["a", "b", 3])
