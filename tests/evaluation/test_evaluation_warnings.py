"""What evaluation warns of: missing support, wrong propensities, few rows, wrong models."""

import numpy as np
import polars as pl
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits import evaluate


def test_support_and_propensities_are_diagnosed():
    rng = np.random.default_rng(11)
    world = World.drawn(rng, skew=0.5)
    frame = world.rows(rng, 3000).filter((pl.col("task") != "t2") | (pl.col("arm") != "a1"))
    evaluation = evaluate(world.log(frame), ["arm:a1", "arm:a0"], ["ips"])
    share = (frame["task"] == "t2").mean()
    assert_allclose(evaluation.diagnostics["arm:a1"].unsupported, share)
    assert evaluation.diagnostics["arm:a1"].unsupported_tasks == 1
    assert evaluation.diagnostics["arm:a0"].unsupported == 0
    missing = [w for w in evaluation.warnings if "never played there" in w]
    assert len(missing) == 1
    assert missing[0].startswith(f"arm:a1: {100 * share:.1f} % of its choices, in 1 of 6 tasks")
    place = evaluation.tasks.index("t2")
    each = evaluation.by_task["arm:a1", "ips"].estimates
    assert each.value[place] == 0  # no row of it has weight: no interval pretends to know
    assert np.isnan(each.low[place])
    assert not any("average" in w for w in evaluation.warnings)

    wrong = world.rows(rng, 3000).with_columns(p=pl.col("p") ** 0.7)
    evaluation = evaluate(world.log(wrong), ["arm:a1"], ["ips"])
    assert any("propensities may be wrong" in w for w in evaluation.warnings)

    rare = world.rows(rng, 500).with_columns(
        p=pl.when(pl.int_range(500) < 7).then(0.001).otherwise(pl.col("p"))
    )
    evaluation = evaluate(world.log(rare), ["uniform"], ["ips"])
    assert any(w.startswith("7 rows have a propensity below 0.01") for w in evaluation.warnings)

    few = world.rows(rng, 40)
    evaluation = evaluate(world.log(few), ["arm:a1"], ["ips"])
    assert any("effective rows of 40" in w for w in evaluation.warnings)
    assert any("tasks there are fewer than 10 effective rows" in w for w in evaluation.warnings)


def test_replay_that_agrees_too_often_or_too_rarely_is_called_out():
    rng = np.random.default_rng(16)
    world = World.drawn(rng)
    frame = world.rows(rng, 3000)

    def called_out(rows):
        evaluation = evaluate(world.log(rows), "HierTS", prior=world.prior(), round_size=10)
        assert evaluation.replays["HierTS"].expected == len(rows) * rows["p"].min()
        return any("were to be expected" in warning for warning in evaluation.warnings)

    assert not called_out(frame)
    assert called_out(frame.with_columns(p=pl.col("p") ** 0.5))
    narrow = World(np.tile([0.0, -0.5, -0.5], (6, 1)), np.tile([0.0, 0.5, 0.5], (6, 1)))
    assert called_out(narrow.rows(rng, 3000))  # the policy waits for an arm that never comes


def test_a_model_that_the_rows_contradict_is_called_out():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 2000))
    wrong = world.prior(hyper_mean=30.0, hyper_std=0.01, task_std=0.01)
    evaluation = evaluate(log, "uniform", prior=wrong)
    assert any("prefer DR" in w for w in evaluation.warnings)
    right = evaluate(log, "uniform", prior=world.prior())
    assert not any("prefer DR" in w for w in right.warnings)
    truth = world.values.mean()
    assert abs(evaluation["uniform", "dr"].value - truth) < 5 * evaluation["uniform", "dr"].error
    assert abs(evaluation["uniform", "dm"].value - truth) > 10
