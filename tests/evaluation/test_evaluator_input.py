"""Evaluation refuses what it cannot do, in words that help."""

import numpy as np
import polars as pl
import pytest

from hierbandits import GaussianHierarchy, evaluate, hieropo

BAD_CALLS = {
    "IPS of a learning policy": (
        ("HierTS", ["ips"]), {}, "'HierTS' learns as it goes.*replay.*frozen:HierTS"),
    "replay of a frozen policy": (("HierOPO", ["replay"]), {}, "'HierOPO' is frozen.*ips, snips"),
    "a method without a policy": (
        (["HierTS"], ["replay", "dr"]), {}, "method 'dr' needs a frozen policy"),
    "an unknown method": (("uniform", ["magic"]), {}, "methods must be among ips, .*'magic'"),
    "an unknown policy": (("Thompson",), {}, "policy must be one of best arm, .*got 'Thompson'"),
    "an unknown frozen policy": (("frozen:X",), {}, "frozen:NAME must name one of .*'X'"),
    "a policy told the truth": (("OracleTS",), {}, "must be told the truth"),
    "the same, frozen": (("frozen:OracleTS",), {}, "must be told the truth"),
    "a forced start, frozen": (("frozen:HierTS-forced",), {}, "by its belief alone"),
    "unknown widths, frozen": (("frozen:AdaptiveHierTS",), {}, "evaluate .frozen:HierTS."),
    "an unknown arm": (("arm:a9",), {}, r"must name an arm of the log \(a0, a1, a2\), got 'a9'"),
    "no policy": (([],), {}, "at least one policy"),
    "a policy twice": ((["uniform", "uniform"],), {}, "distinct names"),
    "a reserved name": (({"logged": "uniform"},), {}, "other than 'logged'"),
    "no policy at all": (({"x": 3},), {}, "names, recipes, or functions.*got 3"),
    "a confidence": (("uniform",), {"confidence": 95}, r"confidence must be in \(0, 1\), got 95"),
    "a delta": (("HierOPO",), {"delta": 0}, r"delta must be in \(0, 1\), got 0"),
    "draws": (("uniform",), {"draws": 0}, "draws must be a whole number of at least 1"),
    "a round": (("uniform",), {"round_size": 0.5}, "round_size must be a whole number"),
    "a seed": (("uniform",), {"seed": -1}, "seed must be a whole number"),
    "folds": (("uniform",), {"folds": 1}, "folds must be a whole number of at least 2"),
    "a split": (("greedy",), {"split": "odd"}, "split must be 'folds' or 'time', got 'odd'"),
    "uniform with propensities": (("uniform",), {"uniform": True}, "uniform must be False"),
    "a prior of other arms": (
        ("greedy",), {"prior": GaussianHierarchy.armed(2, hyper_std=1, task_std=1, noise_std=1)},
        "prior must have the log's 3 arms"),
    "a deep prior": (
        ("greedy",),
        {"prior": GaussianHierarchy.armed(
            3, hyper_std=1, group_stds=[1], task_std=1, noise_std=1)},
        "prior must be a GaussianHierarchy of two levels"),
    "a linear prior": (
        ("greedy",),
        {"prior": GaussianHierarchy(
            hyper_mean=[0.0], hyper_cov=[[1.0]], task_cov=[[1.0]], noise_std=1.0)},
        "prior must be armed unless arm_features are given"),
    "features of some arms": (
        ("greedy",), {"arm_features": {"a0": [1.0]}}, "every arm of the log, got none for 'a1'"),
    "ragged features": (
        ("greedy",), {"arm_features": {"a0": [1.0], "a1": [1.0, 2.0], "a2": [1.0]}},
        "same number of entries"),
    "features that are none": (("greedy",), {"arm_features": [1]}, "must map arms to features"),
    "features that are NaN": (
        ("greedy",), {"arm_features": {"a0": [1.0], "a1": [np.nan], "a2": [1.0]}},
        "arm_features must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_wrong_call_says_what_is_wrong(case, log):
    arguments, options, message = BAD_CALLS[case]
    with pytest.raises(ValueError, match=message):
        evaluate(log, *arguments, **options)


def test_times_that_are_all_alike_cannot_split(world, frame):
    log = world.log(frame.with_columns(when=pl.lit(3)), time="when")
    with pytest.raises(ValueError, match="time must differ among rows"):
        evaluate(log, "greedy")


def test_few_rows_are_too_few(world, frame):
    with pytest.raises(ValueError, match="at least 5 rows"):
        evaluate(world.log(frame[:3]), "greedy")


def test_an_offset_that_sums_of_squares_cannot_bear_is_refused(world):
    rows = world.rows(np.random.default_rng(4), 300)
    for call in (evaluate, hieropo):
        call(world.log(rows.with_columns(pl.lit(0.1).alias("reward"))))  # all equal: nothing lost
        with pytest.raises(ValueError, match="subtract a constant from all rewards first"):
            call(world.log(rows.with_columns(pl.col("reward") + 1e8)))


def test_columns_are_named_for_a_frame_alone(log, frame):
    with pytest.raises(ValueError, match="propensity must not be given with a Log, got 'p'"):
        evaluate(log, "uniform", propensity="p")
    with pytest.raises(ValueError, match="task must not be given with a Log, got 'task'"):
        hieropo(log, task="task")
    with pytest.raises(ValueError, match="task and reward must name columns, got None and None"):
        evaluate(frame, "uniform")
