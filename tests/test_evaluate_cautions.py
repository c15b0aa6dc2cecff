"""What evaluation warns of: missing support, wrong propensities, few rows, wrong models."""

import numpy as np
import polars as pl
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits import evaluate, hieropo
from hierbandits.evaluation.evaluation_tables import percent


def test_support_and_propensities_are_diagnosed():
    rng = np.random.default_rng(11)
    world = World.drawn(rng, skew=0.5)
    frame = world.rows(rng, 3000).filter((pl.col("task") != "t2") | (pl.col("arm") != "a1"))
    found = evaluate(world.log(frame), ["arm:a1", "arm:a0"], ["ips"])
    share = (frame["task"] == "t2").mean()
    assert_allclose(found.diagnostics["arm:a1"].unsupported, share)
    assert found.diagnostics["arm:a1"].unsupported_tasks == 1
    assert found.diagnostics["arm:a0"].unsupported == 0
    missing = [w for w in found.warnings if "never played there" in w]
    assert len(missing) == 1
    assert missing[0].startswith(f"arm:a1: {share:.1%} of its choices, in 1 of 6 tasks")
    place = found.tasks.index("t2")
    each = found.by_task["arm:a1", "ips"].found
    assert each.value[place] == 0  # no row of it has weight: no interval pretends to know
    assert np.isnan(each.low[place])
    assert not any("average" in w for w in found.warnings)

    wrong = world.rows(rng, 3000).with_columns(p=pl.col("p") ** 0.7)
    found = evaluate(world.log(wrong), ["arm:a1"], ["ips"])
    assert any("propensities may be wrong" in w for w in found.warnings)

    rare = world.rows(rng, 500).with_columns(
        p=pl.when(pl.int_range(500) < 7).then(0.001).otherwise(pl.col("p"))
    )
    found = evaluate(world.log(rare), ["uniform"], ["ips"])
    assert any(w.startswith("7 rows have a propensity below 0.01") for w in found.warnings)

    few = world.rows(rng, 40)
    found = evaluate(world.log(few), ["arm:a1"], ["ips"])
    assert any("effective rows of 40" in w for w in found.warnings)
    assert any("tasks there are fewer than 10 effective rows" in w for w in found.warnings)


def test_replay_that_agrees_too_often_or_too_rarely_is_called_out():
    rng = np.random.default_rng(16)
    world = World.drawn(rng)
    frame = world.rows(rng, 3000)

    def called_out(rows):
        found = evaluate(world.log(rows), "HierTS", prior=world.prior(), batch=10)
        assert found.replays["HierTS"].expected == len(rows) * rows["p"].min()
        return any("were to be expected" in warning for warning in found.warnings)

    assert not called_out(frame)
    assert called_out(frame.with_columns(p=pl.col("p") ** 0.5))
    narrow = World(np.tile([0.0, -0.5, -0.5], (6, 1)), np.tile([0.0, 0.5, 0.5], (6, 1)))
    assert called_out(narrow.rows(rng, 3000))  # the policy waits for an arm that never comes


def test_a_model_that_the_rows_contradict_is_called_out():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 2000))
    wrong = world.prior(hyper_mean=30.0, hyper_std=0.01, task_std=0.01)
    found = evaluate(log, "uniform", prior=wrong)
    assert any("prefer DR" in w for w in found.warnings)
    right = evaluate(log, "uniform", prior=world.prior())
    assert not any("prefer DR" in w for w in right.warnings)
    truth = world.values.mean()
    assert abs(found["uniform", "dr"].value - truth) < 5 * found["uniform", "dr"].error
    assert abs(found["uniform", "dm"].value - truth) > 10


def test_small_and_large_rewards_are_shown_in_units_of_their_own():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    frame = world.rows(rng, 400)
    plain = str(evaluate(world.log(frame), "uniform", ["ips"]))
    cells = plain.splitlines()[2].split()[2:5]
    for scale, unit in ((1e-9, "1e-12"), (1e9, "1e+06")):
        scaled = frame.with_columns(pl.col("reward") * scale)
        heading, _, logged = str(evaluate(world.log(scaled), "uniform", ["ips"])).splitlines()[:3]
        assert heading == f"Estimates, ± 95 % intervals, in units of {unit}"
        value, _, reach = logged.split()[2:5]
        for shown, expected in ((value, cells[0]), (reach, cells[2])):
            assert abs(float(shown) / 1000 - float(expected)) < 1e-3
    assert [percent(share) for share in (0.0, 1e-4, 0.0006, 0.25)] == [
        "0.0%",
        "<0.1%",
        "0.1%",
        "25.0%",
    ]


def test_a_given_prior_is_told_of():
    rng = np.random.default_rng(13)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 100))
    told = [evaluate(log, "greedy", ["dr"], prior=given).notes for given in (world.prior(), None)]
    assert ["The prior was given." in " ".join(notes) for notes in told] == [True, False]


def test_bounds_are_told_apart_whatever_is_added_to_the_rewards():
    rng = np.random.default_rng(14)
    world = World.drawn(rng)
    lifted = world.rows(rng, 300).with_columns(pl.col("reward") + 1000)
    policy = hieropo(world.log(lifted))
    for (_, _, mean, lower, _, _), row in zip(
        policy.cells()[1], policy.frame().iter_rows(named=True), strict=True
    ):
        tenth = (row["mean"] - row["lower"]) / 10
        assert abs(float(mean) - row["mean"]) < tenth
        assert abs(float(lower) - row["lower"]) < tenth
