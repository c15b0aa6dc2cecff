"""Studies: means, errors, paired differences, ratios and frames of their outcomes."""

import numpy as np
import pytest

from hierbandits import Study
from hierbandits.simulation.study import OUTCOME_ARRAYS, Outcome, mean_and_error

OURS, THEIRS = np.array([1.0, 2.0, 6.0]), np.array([2.0, 5.0, 5.0])


def _outcome(total, variance=np.nan, seconds=0.5):
    """Two tasks with a quarter and three quarters of the regret, and two kept rounds."""
    curve = np.column_stack([total / 2, total])
    per_task = np.column_stack([total / 4, 3 * total / 4])
    each = np.full(total.size, variance)
    return Outcome(curve, per_task, each, 0.5 * each, np.zeros((total.size, 0, 1)), seconds)


def _study(**options):
    outcomes = {"HierTS": _outcome(OURS, **options), "TS": _outcome(THEIRS, **options)}
    return Study(np.array([5, 10]), outcomes)


def test_means_and_paired_errors_by_hand():
    study = _study()
    assert study.runs == 3
    assert study.mean("HierTS") == pytest.approx((3.0, np.sqrt(7 / 3)))
    assert study.mean("TS") == pytest.approx((4.0, 1.0))
    # differences 1, 3, -1: mean 1, variance 4
    assert study.difference("TS", "HierTS") == pytest.approx((1.0, 2 / np.sqrt(3)))
    # ratio 4/3; 2 - 4/3, 5 - 8/3, 5 - 8 = 2/3, 7/3, -3, with variance (4 + 49 + 81) / 9 / 2
    error = np.sqrt(134 / 18 / 3) / 3
    assert study.ratio("TS", "HierTS") == pytest.approx((4 / 3, error))
    mean, error = study.band("TS")
    np.testing.assert_allclose(mean, [2.0, 4.0])
    np.testing.assert_allclose(error, [0.5, 1.0])


def test_the_ratio_to_no_regret_is_one():
    study = Study(np.array([5, 10]), {"HierTS": _outcome(OURS), "none": _outcome(0 * OURS)})
    assert study.ratio("HierTS", "none") == (1.0, 0.0)
    assert study.ratio("none", "HierTS") == (0.0, 0.0)


def test_one_value_has_no_error():
    assert mean_and_error(np.array([3.0])) == pytest.approx((3.0, np.nan), nan_ok=True)
    assert mean_and_error(np.array([1.0, 3.0])) == pytest.approx((2.0, 1.0))
    study = Study(np.array([5, 10]), {"a": _outcome(OURS[:1]), "none": _outcome(0 * OURS[:1])})
    assert study.ratio("a", "a") == pytest.approx((1.0, np.nan), nan_ok=True)
    assert study.ratio("a", "none") == pytest.approx((1.0, np.nan), nan_ok=True)
    assert np.isnan(study.band("a")[1]).all()


def test_frames_and_summaries():
    study = _study()
    study = _study()
    frame = study.frame()
    assert frame.columns == ["policy", "run", "round", "regret"]
    assert frame.rows()[:3] == [
        ("HierTS", 0, 5, 0.5),
        ("HierTS", 0, 10, 1.0),
        ("HierTS", 1, 5, 1.0),
    ]
    last = frame.filter((frame["policy"] == "TS") & (frame["round"] == 10))
    np.testing.assert_array_equal(last["regret"].to_numpy(), THEIRS)
    tasks = study.task_frame()
    assert tasks.columns == ["policy", "run", "task", "regret"]
    assert tasks.rows()[-2:] == [("TS", 2, 0, 1.25), ("TS", 2, 1, 3.75)]
    rows = {row["policy"]: row for row in study.summary("HierTS")}
    assert rows["HierTS"]["difference"] == 0.0
    assert rows["TS"] == {
        "policy": "TS", "runs": 3, "mean": 4.0, "standard_error": pytest.approx(1.0),
        "seconds": 0.5, "difference": 1.0, "difference_error": pytest.approx(2 / np.sqrt(3)),
    }  # fmt: skip
    assert "difference" not in study.summary()[0]
    with pytest.raises(ValueError, match="baseline must be one of HierTS, TS, got 'typo'"):
        study.summary("typo")


def test_a_summary_has_variance_sums_where_they_were_kept():
    row = _study(variance=8.0).summary()[0]
    assert (row["variance_sum"], row["explored_variance_sum"]) == (8.0, 4.0)
    assert "variance_sum" not in _study().summary()[0]


def test_outcomes_are_joined_in_order():
    parts = [_outcome(OURS, seconds=1.0), _outcome(THEIRS, seconds=2.0)]
    joined = Outcome.joined(parts)
    np.testing.assert_array_equal(joined.total, np.concatenate([OURS, THEIRS]))
    for name in OUTCOME_ARRAYS:
        np.testing.assert_array_equal(getattr(joined, name)[3:], getattr(parts[1], name))
    assert joined.seconds == 3.0


def test_a_study_goes_to_polars_pandas_and_parquet(tmp_path):
    import polars as pl

    study = _study()
    frame = study.frame()
    assert study.to_pandas().to_dict("list") == frame.to_dict(as_series=False)
    study.write_parquet(tmp_path / "study.parquet")
    assert pl.read_parquet(tmp_path / "study.parquet").equals(frame)
